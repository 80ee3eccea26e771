import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TestTrustKey } from '../../test/support/trust-keys.ts'
import {
  formatKeyStatement,
  formatSetStatement,
  parseKeyStatement,
  parseSetStatement,
} from './statements.ts'
import { isFleetName, parseTrustKey } from './trust-key.ts'

const A = 'a'.repeat(64)
const B = 'b'.repeat(64)
const SET = `cartorio trust set v1\nfleet prod\nepoca 1\nnumero 3\nroot ${A}\nroot ${B}\n`

describe('what a trust key signs', () => {
  test('[TRK-2] is a set of roots, as a person can write it', () => {
    const set = { fleet: 'prod', epoch: 1, number: 3, fingerprints: [A, B] }
    assert.equal(formatSetStatement(set), SET)
    assert.deepEqual(parseSetStatement(SET), set)
  })

  test('[TRK-2] has one spelling', () => {
    const others = [
      '',
      SET.trimEnd(),
      `${SET}\n`,
      ` ${SET}`,
      SET.replaceAll('\n', '\r\n'),
      SET.replace('v1', 'v2'),
      SET.replace('set v1', 'key v1'),
      SET.replace('fleet prod', 'fleet  prod'),
      SET.replace('fleet', 'frota'),
      SET.replace('numero 3', 'numero 03'),
      SET.replace('numero 3', 'numero 0'),
      SET.replace('numero 3', 'numero 2147483648'),
      SET.replace('epoca 1', 'epoca -1'),
      SET.replace(A, A.toUpperCase()),
      SET.replace(A, B),
      SET.replace(`root ${A}\nroot ${B}\n`, ''),
      `${SET}comment\n`,
      SET.replace('epoca 1\nnumero 3', 'numero 3\nepoca 1'),
      SET.replace(`root ${B}`, `root ${B} `),
      `\uFEFF${SET}`,
      `${SET}${Array.from({ length: 15 }, (_, index) => `root ${String(index).padStart(64, '0')}\n`).join('')}`,
    ]
    for (const text of others) assert.equal(parseSetStatement(text), undefined, text)
  })

  test('[TRK-3] is the key that comes after it', () => {
    const [from, to] = [new TestTrustKey(), new TestTrustKey()]
    const text = formatKeyStatement({ from: from.trustKey, to: to.trustKey })
    assert.equal(
      text,
      `cartorio trust key v1\nfleet prod\nfrom ${from.trustKey.line}\nto ${to.trustKey.line}\n`,
    )
    assert.equal(parseKeyStatement(text)?.to.text, to.text)
    const others = [
      SET,
      text.trimEnd(),
      text.replace(to.trustKey.line, from.trustKey.line),
      text.replace('prod', 'Prod'),
      text.replace('to ', 'to  '),
      text.replace(to.trustKey.line, to.trustKey.line.slice(0, -4)),
    ]
    for (const other of others) assert.equal(parseKeyStatement(other), undefined, other)
  })

  test('[TRK-1] a trust key is a fleet and a key', () => {
    const { text } = new TestTrustKey('prod.eu-1')
    assert.equal(parseTrustKey(text)?.fleet, 'prod.eu-1')
    for (const other of [
      '',
      'prod',
      text.slice(10),
      `${text}:`,
      ` ${text}`,
      text.replace('prod', 'Prod'),
    ]) {
      assert.equal(parseTrustKey(other), undefined, other)
    }
    for (const name of ['', '-a', 'a.', 'a b', 'a:b', 'a'.repeat(64)]) {
      assert.equal(isFleetName(name), false, name)
    }
  })
})
