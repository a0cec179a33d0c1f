"""Count on a dask cluster, with every result kept in a ledger of this machine; run it again to resume.

    python docs/examples/with_dask.py 16 --scheduler tcp://head:8786
    python docs/examples/with_dask.py 12                                 # threads of this process

The workers need langford installed.  Any other executor of ``concurrent.futures`` runs a campaign in the same way.
"""

from __future__ import annotations

import argparse

from distributed import Client

import langford


def main() -> None:
    """Run the campaign on the cluster."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("n", type=int)
    arguments.add_argument("--scheduler", help="address of the cluster; default: this process")
    chosen = arguments.parse_args()
    local = {} if chosen.scheduler else {"processes": False, "n_workers": 1, "dashboard_address": None}
    with Client(chosen.scheduler, **local) as client, langford.Ledger("langford.db", create=True) as ledger:
        campaign = ledger.campaign(chosen.n)
        campaign.run(executor=client.get_executor())
        print(f"{campaign.record.key.problem} = {campaign.count().published:,}")


if __name__ == "__main__":
    main()
