import assert from 'node:assert/strict'
import { basename, dirname, join, posix, win32 } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../test/support/property.ts'
import { isUuid, parseArtefactName, parseHostname } from './identifiers.ts'

const near = fc.string({
  unit: fc.constantFrom(
    'a',
    'Z',
    '0',
    '.',
    '..',
    '-',
    '_',
    '/',
    '\\',
    '~',
    '%2f',
    '\0',
    '\n',
    '\u202E',
    'é',
  ),
  maxLength: 140,
})
const texts = fc.oneof(anyText(140), near, fc.domain())

test('[DEL-12] no name leaves its directory, hides in it or is another name, on any system', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const name = parseArtefactName(text)
      if (name === undefined) return
      assert.equal(name, text)
      for (const file of [`${name}.crt`, `${name}.key`]) {
        const path = join('/out', file)
        assert.deepEqual([dirname(path), basename(path)], ['/out', file])
        assert.equal(posix.normalize(file), file)
        assert.equal(win32.basename(file), file)
        assert.ok(!file.startsWith('.'))
        assert.ok(Buffer.byteLength(file) <= 255)
      }
    }),
    propertyRuns(3000),
  )
})

test('[DEL-12] [DEL-13] two names that are taken are the same file only when they are equal without case', () => {
  const good = fc
    .stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,10}$/)
    .filter((text) => !text.includes('..'))
  fc.assert(
    fc.property(good, good, (a, b) => {
      assert.deepEqual([parseArtefactName(a), parseArtefactName(b)], [a, b])
      assert.equal(a.normalize('NFKC') === b.normalize('NFKC'), a === b)
    }),
    propertyRuns(500),
  )
})

test('[TOK-5] a host name is one that a URL leaves as it is, and never longer than a CN', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const hostname = parseHostname(text)
      if (hostname === undefined) return
      assert.equal(hostname, text)
      assert.ok(text.length > 0 && text.length <= 64)
      assert.ok(
        text.split('.').every((label) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label)),
        text,
      )
    }),
    propertyRuns(3000),
  )
})

test('[TOK-5] every host name of RFC 1123 in lower case of at most 64 characters is taken', () => {
  const label = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,18}[a-z0-9])?$/)
  const name = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'))
  fc.assert(
    fc.property(name, (text) => assert.equal(parseHostname(text), text)),
    propertyRuns(500),
  )
})

test('[SRF-17] any character changed or added makes a UUID none, or another one', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.nat({ max: 36 }), fc.string({ minLength: 1 }), (uuid, at, more) => {
      assert.ok(isUuid(uuid))
      assert.ok(!isUuid(uuid.slice(0, at) + more + uuid.slice(at)))
      const changed = uuid.slice(0, at) + more.charAt(0) + uuid.slice(at + 1)
      if (isUuid(changed)) assert.match(changed, /^[0-9a-f-]{36}$/)
    }),
    propertyRuns(500),
  )
})
