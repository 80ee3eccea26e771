import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { ADMIN_OPERATIONS, operationsBy } from '../../protocol/admin/operations.ts'
import {
  AdminAgent,
  AdminCargo,
  AdminDelivery,
  AdminPolicy,
  AdminToken,
} from '../../protocol/admin/views.ts'
import { AdminAccessToken } from '../../protocol/admin/admin-tokens.ts'
import { AdminWebhook } from '../../protocol/admin/webhooks.ts'
import { HEADING_WORDS } from '../../protocol/heading-words.ts'
import { type Language, STATE_WORDS, VALUE_WORDS } from '../../protocol/spoken-words.ts'
import { Output } from '../terminal/output.ts'
import { REACHING_CONTEXT } from '../../../test/support/reaching-context.ts'
import type { CommandContext } from './command-context.ts'
import { runCommandLine } from './program.ts'

const nothing = (): Promise<never> => Promise.reject(new Error('no command of this test needs it'))

/** What the command prints when the hub has nothing: its headings. */
async function printed(language: Language, line: string): Promise<string> {
  let text = ''
  const output = new Output(
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        text += chunk.toString()
        done()
      },
    }),
  )
  output.language = language
  const operations = operationsBy((name) => {
    const fields = Object.keys(ADMIN_OPERATIONS[name].reply.properties)
    const reply = Object.fromEntries(fields.map((field) => [field, []]))
    return Promise.resolve({
      ...reply,
      next: null,
      indexed_from: undefined,
    })
  })
  const context: CommandContext = {
    ...REACHING_CONTEXT,
    output,
    withAdmin: (work) =>
      work({
        operations,
        isThroughHub: true,
        openBackup: nothing,
        close: () => Promise.resolve(),
      }),
  }
  await runCommandLine(line.split(' '), context)
  return text
}

const LISTS = [
  'token list',
  'join-rule list --wide',
  'agent list --wide',
  'agent revocations --wide',
  'load list --wide',
  'delivery list --wide',
  'policy list',
  'webhook list --wide',
  'admin token list',
]

function headingsOf(language: 0 | 1): Set<string> {
  return new Set(Object.values(HEADING_WORDS).map((words) => words[language].toUpperCase()))
}

describe('[WRD-12] the headings of', () => {
  for (const line of [...LISTS, 'event list']) {
    test(`svc ${line} are words of the language, English by default`, async () => {
      const english = (await printed('en', line)).trim().split(/ +/)
      const portuguese = (await printed('pt', line)).trim().split(/ +/)
      assert.ok(english.length > 3)
      assert.deepEqual(
        english.filter((heading) => !headingsOf(0).has(heading)),
        [],
      )
      assert.deepEqual(
        portuguese.filter((heading) => !headingsOf(1).has(heading)),
        [],
      )
    })
  }
})

describe('[CLI-85] the first line of CSV of', () => {
  for (const line of LISTS) {
    test(`svc ${line} has the names of JSON in every language`, async () => {
      const csv = line.replace(' --wide', '')
      const names = await printed('en', `${csv} -o csv`)
      assert.equal(await printed('pt', `${csv} -o csv`), names)
      for (const name of names.trim().split(',')) {
        assert.ok(Object.hasOwn(HEADING_WORDS, name), name)
      }
    })
  }
})

test('[WRD-11] each field that a page shows has its word', () => {
  const views = [
    AdminAgent,
    AdminCargo,
    AdminDelivery,
    AdminPolicy,
    AdminToken,
    AdminAccessToken,
    AdminWebhook,
  ]
  const fields = new Set(views.flatMap(({ properties }) => Object.keys(properties)))
  fields.delete('alvos_revertidos')
  const missing = [...fields].filter((field) => !Object.hasOwn(HEADING_WORDS, field))
  assert.deepEqual(missing, [])
})

test('[WRD-11] English words are English, and all words are plain', () => {
  const all = { ...HEADING_WORDS, ...STATE_WORDS, ...VALUE_WORDS }
  const portuguese = Object.values(VALUE_WORDS).map(([, pt]): string => pt)
  for (const [en, pt] of Object.values(all)) {
    assert.ok(!portuguese.includes(en), en)
    for (const word of [en, pt]) assert.match(word, /^[a-zA-Z0-9_ ]+$/)
  }
})
