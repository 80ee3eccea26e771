import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AskedCallback, judgeCallback } from './judge-callback.ts'
import { readPasted } from './read-pasted.ts'

const WANTED = { port: 8400, state: 'the-state' }
const HOST = { host: '127.0.0.1:8400' }
const TARGET = '/callback?code=a-code&state=the-state&iss=https%3A%2F%2Fsso.example.org'
const GOOD: AskedCallback = { method: 'GET', target: TARGET, headers: HOST }
const CODE = { kind: 'code', code: 'a-code', iss: 'https://sso.example.org' }

describe('[OID-32] the callback of a sign-in', () => {
  test('is taken from a browser that comes from the provider, and from a plain client', () => {
    assert.deepEqual(judgeCallback(GOOD, WANTED), CODE)
    const browser = {
      ...HOST,
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    }
    assert.deepEqual(judgeCallback({ ...GOOD, headers: browser }, WANTED), CODE)
  })

  test('may be a refusal of the provider', () => {
    const target = '/callback?error=access_denied&error_description=not+you&state=the-state'
    assert.deepEqual(judgeCallback({ ...GOOD, target }, WANTED), {
      kind: 'refused',
      error: 'access_denied',
      description: 'not you',
    })
  })

  const attacks: readonly (readonly [string, Partial<AskedCallback>])[] = [
    ['another method', { method: 'POST' }],
    ['HEAD', { method: 'HEAD' }],
    ['another path', { target: TARGET.replace('/callback', '/') }],
    ['a path below it', { target: TARGET.replace('/callback', '/callback/x') }],
    ['a whole URL in place of a path', { target: `http://127.0.0.1:8400${TARGET}` }],
    ['no state', { target: '/callback?code=a-code' }],
    ['another state', { target: TARGET.replace('the-state', 'the-stat') }],
    ['two states', { target: `${TARGET}&state=other` }],
    ['two codes', { target: `${TARGET}&code=other` }],
    ['a code and an error', { target: `${TARGET}&error=x` }],
    ['neither code nor error', { target: '/callback?state=the-state' }],
    ['no query', { target: '/callback' }],
    ['a name that leads here', { headers: { host: 'attacker.example:8400' } }],
    ['localhost', { headers: { host: 'localhost:8400' } }],
    ['another port', { headers: { host: '127.0.0.1:8401' } }],
    ['no Host', { headers: {} }],
    ['a script of another page', { headers: { ...HOST, 'sec-fetch-mode': 'no-cors' } }],
    ['a script that may read', { headers: { ...HOST, 'sec-fetch-mode': 'cors' } }],
    ['a frame', { headers: { ...HOST, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' } }],
    ['a look ahead', { headers: { ...HOST, 'sec-purpose': 'prefetch' } }],
    ['a target without end', { target: `${TARGET}&x=${'y'.repeat(20_000)}` }],
  ]
  for (const [name, asked] of attacks) {
    test(`is not ${name}`, () => {
      assert.equal(judgeCallback({ ...GOOD, ...asked }, WANTED), undefined)
    })
  }
})

describe('[OID-33] an address that is pasted', () => {
  const ADDRESS = `http://127.0.0.1:8400${TARGET}`

  test('is read, also with blanks and broken lines', () => {
    assert.deepEqual(readPasted(ADDRESS, WANTED), CODE)
    assert.deepEqual(
      readPasted(`  ${ADDRESS.slice(0, 40)}\n ${ADDRESS.slice(40)} \n`, WANTED),
      CODE,
    )
  })

  for (const [name, pasted, fault] of [
    ['empty', '', 'that address does not begin with http://127.0.0.1:8400/callback?'],
    [
      'the code alone',
      'a-code',
      'that address does not begin with http://127.0.0.1:8400/callback?',
    ],
    [
      'the address of the provider',
      'https://sso.example.org/authorize?state=the-state&code=x',
      'that address does not begin with http://127.0.0.1:8400/callback?',
    ],
    [
      'of another port',
      ADDRESS.replace('8400', '8401'),
      'that address does not begin with http://127.0.0.1:8400/callback?',
    ],
    [
      'of another sign-in',
      ADDRESS.replace('the-state', 'another'),
      'that address is of another sign-in, or not whole',
    ],
    ['cut off', ADDRESS.slice(0, 42), 'that address is of another sign-in, or not whole'],
  ] as const) {
    test(`${name} is told what is wrong with it`, () => {
      assert.equal(readPasted(pasted, WANTED), fault)
    })
  }
})
