"""The machine that this process runs on: cores, folders, files that are whole or absent, threads, steps, settings.

It knows no problem and no method.  Others use all of it.
"""
