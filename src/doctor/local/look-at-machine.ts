// What of the machine concerns the hub: its unit, the swap, core dumps, who listens. Only /proc, /sys and `systemctl show` are read.
// docs/protocol.md DOC-15.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseLimit } from '../../hub/facts/read-process-limits.ts'
import type { MachineFacts, SwapFacts, UnitFacts } from '../scene.ts'
import { runBounded } from './bounded-child.ts'

const UNIT = 'svc-server'
const SYSTEMCTL_MS_MAX = 3000
const DEVICES_DEEP_MAX = 5

/** Undefined where there is no systemd, or no such unit. */
export async function lookAtUnit(): Promise<UnitFacts | undefined> {
  const names =
    'LoadState,ActiveState,Result,NRestarts,LimitNOFILESoft,LimitCORESoft,MemorySwapMax,EffectiveMemorySwapMax'
  const args = ['show', `${UNIT}.service`, `--property=${names}`]
  const { status, stdout } = await runBounded('systemctl', args, SYSTEMCTL_MS_MAX)
  if (status !== 0) return undefined
  return parseUnit(stdout)
}

export function parseUnit(text: string): UnitFacts | undefined {
  const values = new Map(
    text.split('\n').map((line): [string, string] => {
      const at = line.indexOf('=')
      return [line.slice(0, at), line.slice(at + 1)]
    }),
  )
  if (values.get('LoadState') !== 'loaded') return undefined
  return {
    name: UNIT,
    activeState: values.get('ActiveState') ?? 'unknown',
    result: values.get('Result') ?? 'unknown',
    restarts: Number(values.get('NRestarts') ?? 0),
    limits: {
      open_files_max: parseLimit(values.get('LimitNOFILESoft')),
      core_bytes_max: parseLimit(values.get('LimitCORESoft')),
      swap_bytes_max: parseLimit(values.get('MemorySwapMax')),
    },
  }
}

export function lookAtMachine(): MachineFacts {
  return {
    swaps: parseSwaps(readFileSync('/proc/swaps', 'utf8')).map((swap) => ({
      ...swap,
      isSafe: isInMemoryOrEncrypted(swap.name),
    })),
    corePattern: readFileSync('/proc/sys/kernel/core_pattern', 'utf8').trim(),
  }
}

export function parseSwaps(text: string): Omit<SwapFacts, 'isSafe'>[] {
  return text
    .split('\n')
    .slice(1)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', , kibibytes] = line.split(/\s+/)
      return { name: name.replaceAll(String.raw`\040`, ' '), bytes: Number(kibibytes) * 1024 }
    })
}

/** A file is as safe as the device of its file system. */
function isInMemoryOrEncrypted(path: string): boolean {
  if (/^\/dev\/zram\d+$/.test(path)) return true
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return false
  return isEncrypted(nameOfDevice(stats.isFile() ? stats.dev : stats.rdev), 0)
}

/** As Linux packs them. */
function nameOfDevice(device: number): string {
  const bits = BigInt(device)
  const major = ((bits >> 8n) & 0xfffn) | ((bits >> 32n) & 0xfffff000n)
  const minor = (bits & 0xffn) | ((bits >> 12n) & 0xffffff00n)
  return `/sys/dev/block/${major}:${minor}`
}

/** Itself, or all that it lies on. */
function isEncrypted(device: string, depth: number): boolean {
  if (depth > DEVICES_DEEP_MAX) return false
  if (readIfThere(join(device, 'dm/uuid')).startsWith('CRYPT-')) return true
  const below = listIfThere(join(device, 'slaves'))
  return (
    below.length > 0 && below.every((name) => isEncrypted(join(device, 'slaves', name), depth + 1))
  )
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function listIfThere(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
