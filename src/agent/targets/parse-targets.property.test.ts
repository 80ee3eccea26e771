import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parse } from 'smol-toml'
import { anyText, propertyRuns } from '../../../test/support/property.ts'
import { parseTarget } from './parse-targets.ts'
import { indexTargetLines } from './target-lines.ts'

const SOURCE = '/targets.d/site.toml'

/** The same value in one of the ways that TOML has for it. */
const string = (value: string): fc.Arbitrary<string> => {
  const escaped = JSON.stringify(value)
  return fc.constantFrom(escaped, `'${value}'`, `""${escaped}""`, `'''\n${value}'''`)
}

const list = (values: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom('', ' ', '\n', '\n # not ] the end\n', ' # [\n'),
      fc.tuple(...values.map(string)),
    )
    .map(([gap, items]) => `[${gap}${items.join(`,${gap}`)}${gap}]`)

const key = (name: string): fc.Arbitrary<string> => fc.constantFrom(name, `"${name}"`, `'${name}'`)

const statement = (name: string, value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(
      key(name),
      value,
      fc.constantFrom('', ' ', '\t'),
      fc.constantFrom('', ' # = [[file]] "', '\t#'),
    )
    .map(
      ([written, text, space, comment]) => `${space}${written}${space}=${space}${text}${comment}`,
    )

const header = fc.constantFrom('[[file]]', '[[ file ]]', ' [["file"]] # x', "[['file']]")

const PARTS = ['cert', 'chain', 'key', 'ca'] as const

const filePlan = fc.record({
  parts: fc.shuffledSubarray([...PARTS], { minLength: 1 }),
  mode: fc.constantFrom(undefined, '0600', '640', '0400'),
  owner: fc.constantFrom(undefined, 'www-data', '33'),
})

/** A target as text, and what it says. */
const target = fc
  .record({
    keyType: fc.constantFrom(undefined, 'rsa-3072', 'ed25519'),
    reload: fc.option(
      fc.array(fc.constantFrom('a b', '#x', '[', '"', '='), { minLength: 1, maxLength: 3 }),
      { nil: undefined },
    ),
    files: fc.array(filePlan, { minLength: 1, maxLength: 4 }),
  })
  .chain(({ keyType, reload, files }) => {
    const top = [
      statement('nome', string('site')),
      ...(keyType === undefined ? [] : [statement('key_type', string(keyType))]),
      ...(reload === undefined ? [] : [statement('reload', fc.constant(JSON.stringify(reload)))]),
    ]
    const tables = files.map(({ parts, mode, owner }, index) => [
      header,
      statement('path', string(`/dir/file-${index}`)),
      statement('content', list(parts)),
      ...(mode === undefined ? [] : [statement('mode', string(mode))]),
      ...(owner === undefined ? [] : [statement('owner', string(owner))]),
    ])
    const filler = fc.constantFrom('', '\n', '\n# a comment "\n', '\n\t\n')
    const statements = [...top, ...tables.flat()]
    return fc
      .tuple(
        fc.tuple(...statements),
        fc.tuple(...statements.map(() => filler)),
        fc.constantFrom('\n', '\r\n'),
        fc.constantFrom('', '\uFEFF'),
      )
      .map(([texts, gaps, newline, mark]) => ({
        expected: { keyType, reload, files },
        mark,
        texts: texts.map((text, index) => `${gaps[index] ?? ''}${text}`),
        text:
          mark +
          texts
            .map((text, index) => `${gaps[index] ?? ''}${text}\n`)
            .join('')
            .replaceAll('\n', newline),
        tops: top.length,
      }))
  })

function defaultMode(parts: readonly string[]): string {
  return parts.includes('key') ? '600' : '644'
}

test('[TGT-5] [TGT-6] a target is read the same in all the ways that TOML has of writing it', () => {
  fc.assert(
    fc.property(target, ({ text, expected }) => {
      const result = parseTarget(SOURCE, text)
      assert.ok(result.ok, JSON.stringify(result))
      assert.equal(result.target.name, 'site')
      assert.equal(result.target.keyType, expected.keyType ?? 'ec-p256')
      assert.deepEqual(result.target.reload, expected.reload)
      assert.deepEqual(
        result.target.files.map(({ path, content, owner, mode }) => ({
          path,
          content,
          owner,
          mode: mode.toString(8),
        })),
        expected.files.map(({ parts, mode, owner }, index) => ({
          path: `/dir/file-${index}`,
          content: { format: 'pem', parts },
          owner,
          mode: (mode ?? defaultMode(parts)).replace(/^0/, ''),
        })),
      )
      const lines = text.split('\n')
      for (const { line } of result.target.files) {
        assert.match(lines[line - 1] ?? '', /^\s*\[\[/)
      }
    }),
    propertyRuns(),
  )
})

test('[TGT-5] an unknown key is named with its own line, wherever it stands', () => {
  fc.assert(
    fc.property(target, fc.nat(), ({ texts, mark }, pick) => {
      const at = pick % (texts.length + 1)
      // Directly behind a header it would be in the table before or after; either way it is unknown.
      const before = texts
        .slice(0, at)
        .map((text) => `${text}\n`)
        .join('')
      const text = `${mark}${before}colour = "red"\n${texts.slice(at).join('\n')}`
      assert.deepEqual(parseTarget(SOURCE, text), {
        ok: false,
        problems: [
          { source: SOURCE, line: before.split('\n').length, reason: 'unknown key "colour"' },
        ],
      })
    }),
    propertyRuns(),
  )
})

const fragment = fc.oneof(
  anyText(8),
  fc.constantFrom(
    'nome = "site"\n',
    '[[file]]\n',
    '[file]\n',
    '[file.x]\n',
    'file = [{path="/p",content=["cert"]}]\n',
    '"',
    "'",
    '"""',
    "'''",
    '[',
    ']',
    '{',
    '}',
    '=',
    '#',
    '\n',
    '\r\n',
    '\\',
    '.',
    'path = "/p"\n',
    'content = ["cert"]\n',
    'reload = ["a"]\n',
    'x = 1979-05-27\n',
    'x = 0x\n',
    'probe',
    '\u0000',
    '__proto__',
    'constructor',
    'toString = 1\n',
  ),
)

test('[TGT-5] any text is a target or has problems with lines that it has; nothing is thrown', () => {
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 30 }), (fragments) => {
      const text = fragments.join('')
      const result = parseTarget(SOURCE, text)
      if (result.ok) return
      assert.ok(result.problems.length > 0)
      for (const { line, reason } of result.problems) {
        assert.doesNotMatch(reason, /\p{Cc}/u)
        assert.ok(line === undefined || (line >= 1 && line <= text.split('\n').length))
      }
    }),
    propertyRuns(2000),
  )
})

test('[TGT-5] whatever TOML takes, each key at the top has a line', () => {
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 30 }), (fragments) => {
      const text = fragments.join('')
      const keys = topKeysOf(text)
      fc.pre(keys !== undefined)
      const lines = indexTargetLines(text)
      for (const one of keys ?? []) assert.notEqual(lines.lineOf(one), undefined, one)
    }),
    propertyRuns(500),
  )
})

function topKeysOf(text: string): string[] | undefined {
  try {
    return Object.keys(parse(text, { unsafeKeyBehaviour: 'throw' }))
  } catch {
    return undefined
  }
}
