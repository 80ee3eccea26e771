// What a body of 64 KiB may cost the hub, whoever sends it: docs/protocol.md LIM-37.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJsonBody } from './json-body.ts'
import { JSON_ROOM } from './json-room.ts'

const BODY_BYTES = 65_536
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
}

for (const [what, unit] of Object.entries(UNITS)) {
  test(`[LIM-37] one of ${what} costs what any other does`, () => {
    const bodies = Array.from({ length: TIMES }, () => bodyOf(unit))
    const bounds = { ...JSON_ROOM.mtls, depthMax: 32 }
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

function bodyOf(unit: () => string): Buffer {
  const parts: string[] = []
  for (let bytes = 2; bytes < BODY_BYTES; bytes += (parts.at(-1)?.length ?? 0) + 1) {
    parts.push(unit())
  }
  return Buffer.from(`[${parts.slice(0, -1).join(',')}]`)
}
