// What a body of an agent, or of most admin operations, may cost the hub, whoever sends it: docs/protocol.md LIM-37.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJsonBody } from './json-body.ts'
import { JSON_ROOM } from './json-room.ts'

const BODIES = [
  { whose: 'an agent’s of 64 KiB', bytes: 65_536, room: JSON_ROOM.mtls },
  { whose: 'an operator’s of 1 MiB', bytes: 1024 * 1024, room: JSON_ROOM.admin },
]
const TIMES = 20
/** For all of them: 10 ms each. The reviver of JSON.parse took 16 to 32 for one of numbers. */
const CPU_MS_MAX = 200

let names = 0
const newName = (): string => (names += 1).toString(36)
const UNITS: Readonly<Record<string, () => string>> = {
  'numbers with an exponent': () => '1e1',
  'numbers that nearly vanish': () => '5e-324',
  'numbers of seventeen digits': () => '0.30000000000000004',
  'empty objects': () => '{}',
  'objects of names that were never seen': () => `{"${newName()}":0}`,
  'strings that were never seen': () => `"${newName()}"`,
  'long strings': () => `"${newName().padEnd(300, 'ä')}"`,
}
const CASES = BODIES.flatMap((body) =>
  Object.entries(UNITS).map(([what, unit]) => ({ ...body, what, unit })),
)

for (const { whose, bytes, room, what, unit } of CASES) {
  test(`[LIM-37] ${whose}, full of ${what}, costs what any other does`, () => {
    const bodies = Array.from({ length: TIMES }, () => bodyOf(unit, bytes))
    const bounds = { ...room, depthMax: 32 }
    const before = process.threadCpuUsage()
    for (const body of bodies) {
      try {
        parseJsonBody(body, bounds)
      } catch {
        // Refused or not, it was looked at.
      }
    }
    const { user, system } = process.threadCpuUsage(before)
    assert.ok((user + system) / 1000 < CPU_MS_MAX, `${(user + system) / 1000} ms of CPU`)
  })
}

function bodyOf(unit: () => string, bodyBytes: number): Buffer {
  const parts: string[] = []
  for (let bytes = 2; bytes < bodyBytes; bytes += (parts.at(-1)?.length ?? 0) + 1) {
    parts.push(unit())
  }
  return Buffer.from(`[${parts.slice(0, -1).join(',')}]`)
}
