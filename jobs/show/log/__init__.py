"""The log of a task server: each line has a kind, words for people and fields for programs.

May use: the words of :mod:`jobs.show`, and :mod:`db`.
Others may use: ``line`` and ``extra`` anywhere in the farm; the reporter is started by ``langford serve``.
"""
