// How many entries one message to people stands for, and how long the hub gathers more before the next: an outage of 10,000 hosts is ten
// messages within five minutes. docs/protocol.md WHK-28.

export const DIGEST_MESSAGES_MAX = 1000
export const DIGEST_GATHER_MS = 30_000
