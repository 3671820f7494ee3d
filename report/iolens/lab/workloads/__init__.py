"""Workloads: one file for each program that sweeps know, with the arguments that it accepts and the results that it
reports.
"""
