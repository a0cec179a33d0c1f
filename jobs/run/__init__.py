"""The one loop of every worker: lease, evaluate, deliver, renew, stop; its sources of tasks.

It uses pools, and campaigns however they are reached.  Tables, the public face and commands run it.
"""
