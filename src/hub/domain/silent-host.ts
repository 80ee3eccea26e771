// Which hosts have vanished. A host is silent to a hub that is down, or cut off, just as one that is gone, so a time in which the hub heard
// from nobody counts for none of them. docs/protocol.md JNR-14.

/** What a hub knows of its own hearing, for the hosts of one rule. */
export interface SilenceWatch {
  /** From then on the hub was never without a word from somebody for long: no silence is counted from before. */
  readonly since: Date
  /** When it last heard from anybody. */
  readonly heardAt: Date
}

/** Of the time that a host may be silent: a hub that heard from nobody for longer begins to count again. */
const DEAFNESS_PART = 4

/** `heardAt`: when any host at all was last heard from. */
export function nextWatch(
  watch: SilenceWatch | null,
  heardAt: Date | undefined,
  { now, silentMs }: { readonly now: Date; readonly silentMs: number },
): SilenceWatch | null {
  if (heardAt === undefined) return watch
  // What is from the future was written before somebody set the clock back.
  const at = heardAt > now ? now : heardAt
  if (watch === null || watch.heardAt > now) return { since: at, heardAt: at }
  if (at <= watch.heardAt) return watch
  const deafMs = at.getTime() - watch.heardAt.getTime()
  return { since: deafMs > silentMs / DEAFNESS_PART ? at : watch.since, heardAt: at }
}

/** Up to when the hub heard anybody, not up to now: after that it may be the hub that hears nothing. */
export function isSilent(lastHeardAt: Date, watch: SilenceWatch, silentMs: number): boolean {
  const fromMs = Math.max(lastHeardAt.getTime(), watch.since.getTime())
  return watch.heardAt.getTime() - fromMs >= silentMs
}
