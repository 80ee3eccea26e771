// How the agent's Node is told to prefer memory to speed: an agent waits, and each host has one. bin/svc-agent has the same.

export const AGENT_FLAGS: readonly string[] = [
  // Most of what a round makes is gone after it: a young generation of 1 MB is enough, and the 16 MB that it may grow to stay resident.
  '--max-semi-space-size=1',
  '--optimize-for-size',
  // Nothing in an agent runs long enough to pay for TurboFan; Maglev stays, for files that are opened in JavaScript.
  '--no-opt',
  // Nor to pay for a quick compiler of everything: what a thousand renewals compile would stay.
  '--no-sparkplug',
  // What V8 notes about a function, to compile it better, it notes of those that are called often only.
  '--invocation-count-for-feedback-allocation=100',
  // The agent collects once when it is quiet after work: src/platform/collect-when-quiet.ts.
  '--expose-gc',
]

/** For malloc, from its launcher or its unit. */
export const AGENT_MALLOC: Readonly<Record<string, string>> = {
  // One heap serves all threads of a program that waits.
  MALLOC_ARENA_MAX: '1',
  // The end of that heap goes back to the system once so much of it is free; glibc would raise this threshold with what it saw.
  MALLOC_TRIM_THRESHOLD_: '131072',
}
