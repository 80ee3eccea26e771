// The transcripts hold what svc prints; here they are read for words that it prints only with SVC_LANG=pt.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HEADING_WORDS } from '../../src/protocol/heading-words.ts'
import { VALUE_WORDS } from '../../src/protocol/spoken-words.ts'
import { parseTranscript, type Step } from './transcript.ts'

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

function readShown(): Step[] {
  const scripts = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.script.txt'))
  const steps = scripts.flatMap((name) =>
    parseTranscript(readFileSync(join(import.meta.dirname, name), 'utf8')),
  )
  return steps.filter(({ command }) => !FOR_PROGRAMS.test(command))
}

const shown = readShown()

test('[WRD-12] svc prints no Portuguese heading and no Portuguese state by default', () => {
  assert.ok(shown.length > 150, `${shown.length} commands`)
  for (const { command, expected } of shown) {
    // An error repeats what was typed.
    const lines = expected.split('\n').filter((line) => !line.startsWith('svc: '))
    const words = lines.flatMap((line) => line.split(/[\s:,]+/))
    const found = words.filter((word) => PORTUGUESE.includes(word))
    assert.deepEqual(found, [], `$ ${command}`)
  }
})

const NOUNS = /\b(agentes?|cargas?|entregas?|politicas?|versao|selado)\b/

test('[WRD-12] svc speaks of agents, loads, deliveries and policies, in hints and refusals too', () => {
  for (const { command, expected } of shown) {
    // The other name of a command stands in its help, and what was typed in an error.
    const typed = command.split(/[\s'"]+/)
    const lines = expected.replaceAll(/\b(agent|load|delivery|policy)\|\w+/g, '$1').split('\n')
    const found = lines.filter((line) => {
      const words = line.match(new RegExp(NOUNS, 'g')) ?? []
      const isError = line.startsWith('svc: ')
      return !line.includes('{') && words.some((word) => !isError || !typed.includes(word))
    })
    assert.deepEqual(found, [], `$ ${command}`)
  }
})
