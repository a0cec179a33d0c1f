"""The one loop of every worker: lease, evaluate, deliver, renew, stop; its sources of tasks."""
