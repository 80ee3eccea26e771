// Room for the vault. docs/protocol.md DOC-10.

import type { DiskFacts } from '../protocol/admin/examination.ts'
import { fault, type Finding, ok, showBytes, warning } from './finding.ts'
import { quoteForShell } from '../platform/quote-for-shell.ts'

/** The hub then has as much again until it refuses events. */
const FLOORS_MIN = 2
/** SQLite copies the whole write-ahead log at most now and then: below this nothing but luck is left. */
const FREE_BYTES_MIN = 32 * 1024 * 1024
const FILES_MIN = 100
const DAYS_WARNING = 30
const DAYS_ERROR = 3

const TMPFS = 0x01_02_19_94
const RAMFS = 0x85_84_58_f6
const REMOTE: ReadonlyMap<number, string> = new Map([
  [0x69_69, 'NFS'],
  [0xff_53_4d_42, 'CIFS'],
  [0xfe_53_4d_42, 'SMB'],
  [0x01_02_19_97, '9P'],
  [0x00_c3_64_00, 'Ceph'],
])

const FULL =
  'when the file system is full the hub commits nothing: no enrolment, no renewal, no event; below the floor it refuses events first'

export function judgeDisk(facts: DiskFacts): Finding[] {
  const found = [...judgeRoom(facts), ...judgeFileSystem(facts)]
  return found.length > 0 ? found : [ok(describe(facts))]
}

function describe({
  free_bytes,
  floor_bytes,
  vault_bytes,
  growth_bytes_per_day,
}: DiskFacts): string {
  const floor = floor_bytes === null ? 'no floor' : `the floor is ${showBytes(floor_bytes)}`
  const vault = vault_bytes === null ? '' : `, the vault has ${showBytes(vault_bytes)}`
  const growth =
    growth_bytes_per_day === null ? '' : ` and grows by ${showBytes(growth_bytes_per_day)} a day`
  return `${showBytes(free_bytes)} are free, ${floor}${vault}${growth}`
}

function judgeRoom(facts: DiskFacts): Finding[] {
  const { directory, free_bytes: free, floor_bytes, files_free: files } = facts
  const floor = floor_bytes ?? FREE_BYTES_MIN
  const at = quoteForShell(directory)
  const commands = [`df -h ${at}`, `du -sh ${at}`]
  const remedy = `make room on the file system of ${directory}, or give it more`
  const advice = { why: FULL, remedy, commands }
  const found: Finding[] = []
  if (files !== null && files < FILES_MIN) {
    const message = `the file system of ${directory} has room for ${files} more files`
    found.push(fault(message, { ...advice, commands: [`df -i ${at}`] }))
  }
  if (free < floor) {
    const message = `${showBytes(free)} are free in ${directory}, below the floor of ${showBytes(floor)}: the hub refuses events`
    return [...found, fault(message, advice)]
  }
  const days = daysLeft(facts, floor)
  if (days < DAYS_WARNING) {
    const left = days < 1 ? 'less than a day' : `${Math.floor(days)} days`
    const message = `at the growth of the last week the free space of ${directory} lasts ${left} (${describe(facts)})`
    return [...found, (days < DAYS_ERROR ? fault : warning)(message, advice)]
  }
  if (free < floor * FLOORS_MIN) {
    const message = `only ${showBytes(free)} are free in ${directory}; below ${showBytes(floor)} the hub refuses events`
    return [...found, warning(message, advice)]
  }
  return found
}

function daysLeft({ free_bytes, growth_bytes_per_day: growth }: DiskFacts, floor: number): number {
  return growth === null || growth <= 0
    ? Number.POSITIVE_INFINITY
    : Math.max(0, free_bytes - floor) / growth
}

function judgeFileSystem({ directory, file_system: kind }: DiskFacts): Finding[] {
  const commands = [`findmnt -T ${quoteForShell(directory)}`]
  if (kind === TMPFS || kind === RAMFS) {
    return [
      fault(`${directory} is in memory (tmpfs)`, {
        why: 'a reboot loses the vault, and with it every identity and the audit log',
        remedy: 'put the vault on a disk: SVC_VAULT_ROOT names the directory',
        commands,
      }),
    ]
  }
  const remote = REMOTE.get(kind)
  if (remote === undefined) return []
  return [
    warning(`${directory} is on a network file system (${remote})`, {
      why: 'SQLite’s write-ahead log and the lock of the vault need a local file system: two hubs could open it at once, and a commit may be lost',
      remedy: 'put the vault on a local disk: SVC_VAULT_ROOT names the directory',
      commands,
    }),
  ]
}
