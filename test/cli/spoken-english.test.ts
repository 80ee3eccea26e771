// The transcripts hold what svc prints; here they are read for words that it prints only with SVC_LANG=pt.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HEADING_WORDS } from '../../src/protocol/heading-words.ts'
import { VALUE_WORDS } from '../../src/protocol/spoken-words.ts'
import { parseTranscript } from './transcript.ts'

const english = new Set(Object.values(HEADING_WORDS).map(([en]): string => en))
const PORTUGUESE = [
  ...Object.values(HEADING_WORDS).flatMap(([en, pt]) =>
    en === pt || english.has(pt) ? [] : [pt.toUpperCase()],
  ),
  ...Object.keys(VALUE_WORDS),
  'atrasado',
  'duplicado',
]
const FOR_PROGRAMS = /--json|-o (csv|json)|SVC_LANG=pt|--dry-run|cat |settings\.env/

test('[WRD-12] svc prints no Portuguese heading and no Portuguese state by default', () => {
  const scripts = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.script.txt'))
  const steps = scripts.flatMap((name) =>
    parseTranscript(readFileSync(join(import.meta.dirname, name), 'utf8')),
  )
  const shown = steps.filter(({ command }) => !FOR_PROGRAMS.test(command))
  assert.ok(shown.length > 150, `${shown.length} commands`)
  for (const { command, expected } of shown) {
    // An error repeats what was typed.
    const lines = expected.split('\n').filter((line) => !line.startsWith('svc: '))
    const words = lines.flatMap((line) => line.split(/[\s:,]+/))
    const found = words.filter((word) => PORTUGUESE.includes(word))
    assert.deepEqual(found, [], `$ ${command}`)
  }
})
