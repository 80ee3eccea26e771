// Log lines for systemd's journal, which has time, host and unit by itself: `<6>hub.boot: vault unsealed vault_id=…`. The number
// is the priority that `journalctl -p` asks for (sd-daemon(3)). Small, since an agent that waits should be.

import { fstatSync } from 'node:fs'

/** As syslog counts. */
const PRIORITIES: Readonly<Record<string, number>> = {
  trace: 7,
  debug: 7,
  info: 6,
  warn: 4,
  error: 3,
  fatal: 2,
}
/** What needs no quotes: no blank, no quote, no equals sign, nothing that a terminal would obey. */
const PLAIN = /^[\u0021\u0023-\u003c\u003e-\u007e]+$/

/** Whether this descriptor leads to the journal: `JOURNAL_STREAM` has its device and inode. docs/protocol.md LOG-1. */
export function isJournal(descriptor: number, journalStream: string | undefined): boolean {
  if (journalStream === undefined) return false
  const { dev, ino } = fstatSync(descriptor)
  return journalStream === `${dev}:${ino}`
}

/** Of a line of JSON; one line, whatever its fields hold. */
export function journalLine(json: string): string {
  const { level, module, msg, time: _time, ...fields } = JSON.parse(json) as Record<string, unknown>
  const details = Object.entries(fields).map(([name, value]) => ` ${name}=${textOf(value)}`)
  const priority = PRIORITIES[String(level)] ?? 6
  return `<${priority}>${String(module)}: ${String(msg)}${details.join('')}\n`
}

function textOf(value: unknown): string {
  return typeof value === 'string' && PLAIN.test(value) ? value : JSON.stringify(value)
}
