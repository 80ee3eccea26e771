import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  findReportedKey,
  formatSelector,
  labelKeysOf,
  matchesSelector,
  parseSelector,
} from './selector.ts'

const HOST = {
  hostname: 'web-1.example.org',
  role: 'web',
  labels: new Map([
    ['env', 'prod'],
    ['tier', ''],
    ['host.os', 'linux'],
  ]),
}

function parsed(text: string) {
  const outcome = parseSelector(text)
  assert.ok(outcome.ok, `${text}: ${JSON.stringify(outcome)}`)
  return outcome.selector
}

describe('[LBL-5] a selector', () => {
  const selectors: [text: string, isMatch: boolean][] = [
    ['env=prod', true],
    ['env==prod', true],
    ['env=stage', false],
    ['env!=stage', true],
    ['env!=prod', false],
    ['zone!=a', true],
    ['env in (stage,prod)', true],
    ['env in (stage)', false],
    ['env notin (stage)', true],
    ['env notin (prod,stage)', false],
    ['zone notin (a)', true],
    ['env', true],
    ['zone', false],
    ['!zone', true],
    ['!env', false],
    ['tier', true],
    ['tier=', true],
    ['env=', false],
    ['role=web', true],
    ['role!=web', false],
    ['role in (db,web)', true],
    ['!role', false],
    ['name=web-1.example.org', true],
    ['name in (web-2.example.org)', false],
    ['host.os=linux', true],
    ['role=web,env in (prod,stage),!canary', true],
    ['role=web,env in (prod,stage),!tier', false],
    ['  role =\tweb , env  in( prod ,stage ) , ! canary ', true],
    ['in=x', false],
    ['notin', false],
    ['env,env', true],
  ]
  for (const [text, isMatch] of selectors) {
    test(`${JSON.stringify(text)} ${isMatch ? 'matches' : 'does not match'}`, () => {
      assert.equal(matchesSelector(parsed(text), HOST), isMatch)
    })
  }

  const faults: [text: string, column: number, message: string][] = [
    ['', 1, 'the end where a key belongs'],
    ['env=prod,', 10, 'the end where a key belongs'],
    ['env=prod,,tier', 10, '"," where a key belongs'],
    ['env prod', 5, '"p" where a comma or the end belongs'],
    ['env=prod;tier', 9, '";" where a comma or the end belongs'],
    ['env>5', 4, '">" where a comma or the end belongs'],
    ['a/b=c', 2, '"/" where a comma or the end belongs'],
    ['!env=prod', 5, '"=" where a comma or the end belongs'],
    ['env in prod', 8, '"p" where ( belongs, after in'],
    ['env in (prod', 13, 'the end where , or ) belongs'],
    ['env in ()', 9, '")" where a value belongs'],
    ['env in (a,,b)', 11, '"," where a value belongs'],
    ['env notin (a b)', 14, '"b" where , or ) belongs'],
    [
      '-env',
      1,
      'a key has letters, digits, -, _ and . alone, and begins and ends with a letter or a digit',
    ],
    [
      'a=prod-',
      3,
      'a value has letters, digits, -, _ and . alone, and begins and ends with a letter or a digit',
    ],
    [`a,${'k'.repeat(64)}`, 3, 'a key has at most 63 bytes'],
    [`a=${'v'.repeat(64)}`, 3, 'a value has at most 63 bytes'],
    ['role=', 6, 'a value is missing after role='],
    ['name=,env', 6, 'a value is missing after name='],
    [`role=${'r'.repeat(129)}`, 6, 'no role is longer than 128 characters'],
    ['é=1', 1, '"é" where a key belongs'],
    ['💥', 1, '"💥" where a key belongs'],
    ['a'.repeat(1025), 1025, 'a selector has at most 1024 characters'],
    [`${'a,'.repeat(16)}a`, 33, 'a selector has at most 16 terms'],
    [
      `a in (${Array.from({ length: 65 }, (_, at) => `v${at}`).join(',')})`,
      253,
      'a set has at most 64 values',
    ],
  ]
  for (const [text, column, message] of faults) {
    test(`${JSON.stringify(text.slice(0, 30))} is refused at column ${column}`, () => {
      assert.deepEqual(parseSelector(text), { ok: false, column, message })
    })
  }

  test('is stored in one form', () => {
    const text = ' role == web,env notin ( a , b,a ), !canary, zone != c,tier,x=,y in (z)'
    assert.equal(
      formatSelector(parsed(text)),
      'role=web,env notin (a,b),!canary,zone!=c,tier,x=,y=z',
    )
  })

  test('says which labels it looks at', () => {
    assert.deepEqual(labelKeysOf(parsed('role=web,env=prod,!env,name=a,canary')), ['env', 'canary'])
  })

  test('[LBL-7] says which of its keys only agents say', () => {
    assert.equal(findReportedKey(parsed('role=web,!host.rack')), 'host.rack')
    assert.equal(findReportedKey(parsed('role=web,hosts=a')), undefined)
  })
})
