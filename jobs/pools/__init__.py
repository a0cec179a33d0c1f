"""Processes of this machine that evaluate tasks: pools of them, how they start, and the evaluation of one task.

It knows methods and devices, but no campaign.
"""
