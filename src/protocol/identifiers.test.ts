import assert from 'node:assert/strict'
import { resolve, sep } from 'node:path'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { isUuid, parseArtefactName, parseHostname } from './identifiers.ts'
import { propertyRuns } from '../../test/support/property.ts'

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 140 }),
  fc.string({ unit: fc.constantFrom('a', 'Z', '0', '.', '-', '_', '/', '*', ' '), maxLength: 140 }),
)

describe('host names', () => {
  test('[TOK-5] are lower-case RFC 1123 names of at most 64 characters', () => {
    for (const good of [
      'a',
      '0',
      'a-b',
      'a.b.c',
      '1.2.3.4',
      'x'.repeat(63),
      `a.${'b'.repeat(62)}`,
    ]) {
      assert.equal(parseHostname(good), good)
    }
    const bad = ['', '.', 'a.', '.a', 'a..b', '-a', 'a-', 'A', 'a_b', 'a b', 'é', '*.a', 'a\n']
    for (const text of [...bad, 'x'.repeat(64), `a.${'b'.repeat(63)}`]) {
      assert.equal(parseHostname(text), undefined, text)
    }
  })

  test('[TOK-5] whatever is taken has only letters, digits, dots and inner hyphens', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const hostname = parseHostname(text)
        if (hostname === undefined) return
        assert.equal(hostname, text)
        assert.match(text, /^[a-z0-9]([a-z0-9.-]{0,62}[a-z0-9])?$/)
      }),
      propertyRuns(100),
    )
  })
})

describe('names of deliveries', () => {
  test('[DEL-12] match the pattern and hold no two dots in a row', () => {
    for (const good of ['a', 'A9', 'site.example', 'a_b-c', 'x'.repeat(128)]) {
      assert.equal(parseArtefactName(good), good)
    }
    const bad = ['', '.', '..', '.a', '-a', '_a', 'a..b', 'a/b', 'a\\b', 'a b', 'é', 'a\n', 'a\0']
    for (const text of [...bad, 'x'.repeat(129)]) {
      assert.equal(parseArtefactName(text), undefined, text)
    }
  })

  test('[DEL-12] whatever is taken stays in its directory', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const name = parseArtefactName(text)
        if (name === undefined) return
        const path = resolve('/out', `${name}.crt`)
        assert.equal(path, `/out${sep}${text}.crt`)
      }),
      propertyRuns(100),
    )
  })
})

test('[SRF-17] identifiers are UUIDs in lower case', () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => assert.ok(isUuid(uuid))),
    propertyRuns(100),
  )
  for (const bad of ['', 'x', '0'.repeat(36), 'ABCDEFAB-1111-4111-8111-111111111111']) {
    assert.equal(isUuid(bad), false)
  }
})
