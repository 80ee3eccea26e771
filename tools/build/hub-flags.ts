// How the hub's Node is told to spend memory. bin/svc-server has the same.

export const HUB_FLAGS: readonly string[] = [
  // Of a larger young generation a collection would stop the hub for longer, of a smaller one more of what strangers leave would survive:
  // 8 MB took 5 % of a core less of a hub under attack than 2.
  '--max-semi-space-size=8',
  // V8 takes a hub that serves little for one that rests, and collects everything a few seconds after the last time: 40 to 80 ms in which
  // agents wait, each 15 s with tabs of the console.
  '--no-memory-reducer',
  // The hub collects once when it is quiet after work: src/platform/collect-when-quiet.ts.
  '--expose-gc',
]
