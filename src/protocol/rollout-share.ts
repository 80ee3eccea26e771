// How many of the hosts of a rollout: `5` of them, or `2%`, or `0.5%`. What the waves of a rollout are, and how many hosts may fail.
// docs/protocol.md RLO-2, RLO-9.

export type Share =
  | { readonly of: 'hosts'; readonly count: number }
  /** In tenths of a percent. */
  | { readonly of: 'percent'; readonly tenths: number }

export const WAVES_MAX = 20
const ALL_TENTHS = 1000
const HOSTS_MAX = 10_000_000

/** Undefined when the text is no share. */
export function parseShare(text: string): Share | undefined {
  if (/^\d{1,8}$/.test(text)) {
    const count = Number(text)
    return count <= HOSTS_MAX ? { of: 'hosts', count } : undefined
  }
  const [, whole, tenth = '0'] = /^(\d{1,3})(?:\.(\d))?%$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const tenths = Number(whole) * 10 + Number(tenth)
  return tenths <= ALL_TENTHS ? { of: 'percent', tenths } : undefined
}

export function formatShare(share: Share): string {
  if (share.of === 'hosts') return `${share.count}`
  const { tenths } = share
  return `${tenths % 10 === 0 ? tenths / 10 : (tenths / 10).toFixed(1)}%`
}

/** Of so many hosts; a part of a host is a host, so that a wave of 1% of 20 hosts has one. */
export function hostsOfWave(wave: Share, total: number): number {
  if (wave.of === 'hosts') return Math.min(wave.count, total)
  return Math.ceil((total * wave.tenths) / ALL_TENTHS)
}

/** Of so many hosts; a part of a host is none, so that 2% of 20 hosts permits no failure. */
export function failuresAllowed(most: Share, hosts: number): number {
  if (most.of === 'hosts') return most.count
  return Math.floor((hosts * most.tenths) / ALL_TENTHS)
}

/** What is wrong with the waves, after `the waves`; undefined when they are right. */
export function findWavesFault(waves: readonly Share[]): string | undefined {
  if (waves.length === 0) return 'are none'
  if (waves.length > WAVES_MAX) return `are more than ${WAVES_MAX}`
  for (const [at, wave] of waves.entries()) {
    const before = waves[at - 1]
    if (sizeOf(wave) === 0) return 'have one without hosts'
    if (before === undefined) continue
    if (before.of === 'percent' && wave.of === 'hosts') {
      return 'have a number of hosts after a percentage'
    }
    if (before.of === wave.of && sizeOf(wave) <= sizeOf(before)) {
      return `do not grow: ${formatShare(wave)} comes after ${formatShare(before)}`
    }
  }
  const last = waves.at(-1)
  const isAll = last?.of === 'percent' && last.tenths === ALL_TENTHS
  return isAll ? undefined : 'do not end with 100%'
}

function sizeOf(share: Share): number {
  return share.of === 'hosts' ? share.count : share.tenths
}
