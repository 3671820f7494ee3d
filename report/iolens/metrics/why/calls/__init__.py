"""The calls of all ranks, and which of them belong together: messages, collective calls, one-sided communication."""
