// How the agent's Node is told to prefer memory to speed: an agent waits, and each host has one. bin/svc-agent has the same.

export const AGENT_FLAGS: readonly string[] = [
  // Most of what a round makes is gone after it: a young generation of 1 MB is enough, and the 16 MB that it may grow to stay resident.
  '--max-semi-space-size=1',
  '--optimize-for-size',
  // Nothing in an agent runs long enough to pay for TurboFan; Maglev stays, for files that are opened in JavaScript.
  '--no-opt',
]
