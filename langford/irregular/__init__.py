"""Irregular problems on arrays: graphs, trees and cycles, on the CPU and on GPUs."""
