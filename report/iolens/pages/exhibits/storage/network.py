"""Bytes over the network: TCP connections, and requests through libcurl."""

from __future__ import annotations

from iolens.log import Job
from iolens.metrics.job.interfaces import network
from iolens.pages import words
from iolens.pages.exhibit import Column, Exhibit
from iolens.pages.exhibits.storage.families import FAMILY_SIZE

CONNECTIONS: Exhibit[Job] = Exhibit(
    name="connections",
    title="TCP connections that the job made",
    metric=network.connections,
    columns=[
        Column("to", "address"),
        Column("ranks", "ranks", words.count),
        Column("connections", "connections", words.count),
        Column("accepted", "established", words.count),
        Column("received", "received", words.size),
        Column("sent", "sent", words.size),
        Column("sent again", "resent", words.size),
        Column("slowest rank in connect, s", "connect_seconds", words.seconds),
        Column("shortest round trip, s", "shortest_rtt", words.seconds),
    ],
    note="As the kernel counted them for each connection until the program closed it or ended. Accepted: the other end "
    "answered; without that, bytes are n/a. No table counts this time as I/O.",
)

HTTP_REQUESTS: Exhibit[Job] = Exhibit(
    name="http_requests",
    title="Requests through libcurl",
    metric=network.http_requests,
    whole=lambda job: network.http_requests(job, by_family=False),
    listed=network.http_requests,
    columns=[
        Column("address", "url"),
        FAMILY_SIZE,
        Column("ranks", "ranks", words.count),
        Column("requests", "requests", words.count),
        Column("for a part", "partial", words.count),
        Column("failed", "failed", words.count),
        Column("received", "received", words.size),
        Column("received again", "again", words.size),
        Column("given by HDF5", "used", words.size, optional=True),
        Column("sent", "sent", words.size),
        Column("slowest rank, s", "seconds", words.seconds),
        Column("until first byte, s", "first_byte_seconds", words.seconds),
    ],
    note="Bytes count bodies, not headers. For a part: requests answered with a range of the object (206). Failed: "
    "requests not answered, or answered with an error (400 and above). Received again: parts of an object that the "
    "same rank had fetched before. Given by HDF5: what the program read from datasets of this file. Users, passwords "
    "and queries of addresses are not kept.",
)
