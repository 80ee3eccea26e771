import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { describe, test } from 'node:test'
import { type AddressLookup, createAddressLookup } from './address-lookup.ts'

function resolve(
  lookup: AddressLookup,
  hostname: string,
  protocol = 'https:',
): Promise<LookupAddress[]> {
  return new Promise((done, fail) => {
    lookup.forProtocol(protocol)(hostname, { all: true }, (error, addresses) => {
      if (error === null) done(addresses as LookupAddress[])
      else fail(error)
    })
  })
}

const v4 = (address: string): LookupAddress => ({ address, family: 4 })
const v6 = (address: string): LookupAddress => ({ address, family: 6 })

describe('[WHK-13] a name', () => {
  const cases: [found: LookupAddress[], protocol: string, allowed: LookupAddress[]][] = [
    [[v4('10.0.0.1'), v6('2001:db8::1')], 'https:', [v4('10.0.0.1'), v6('2001:db8::1')]],
    [[v6('fe80::1'), v4('192.0.2.1')], 'https:', [v4('192.0.2.1')]],
    [[v6('::1'), v4('127.0.0.1')], 'http:', [v6('::1'), v4('127.0.0.1')]],
    [[v4('10.0.0.1'), v4('127.0.0.1')], 'http:', [v4('127.0.0.1')]],
  ]
  for (const [found, protocol, allowed] of cases) {
    const names = found.map(({ address }) => address).join(' and ')
    test(`that is ${names} leads ${protocol} where it may`, async () => {
      const lookup = createAddressLookup(() => Promise.resolve(found))
      assert.deepEqual(await resolve(lookup, 'a.example', protocol), allowed)
    })
  }

  const refused: [found: LookupAddress[], protocol: string][] = [
    [[v4('169.254.169.254')], 'https:'],
    [[v4('169.254.169.254'), v6('fe80::1')], 'https:'],
    [[v6('::ffff:169.254.169.254')], 'https:'],
    [[v4('0.0.0.0')], 'https:'],
    [[v4('10.0.0.1')], 'http:'],
  ]
  for (const [found, protocol] of refused) {
    const names = found.map(({ address }) => address).join(' and ')
    test(`that is ${names} is refused for ${protocol}`, async () => {
      const lookup = createAddressLookup(() => Promise.resolve(found))
      await assert.rejects(resolve(lookup, 'a.example', protocol), {
        code: 'address_refused',
        message: `a.example leads to ${found.map(({ address }) => address).join(', ')}, where the hub does not send`,
      })
    })
  }

  test('that does not resolve fails as the resolver says', async () => {
    const lookup = createAddressLookup(() => Promise.reject(new Error('getaddrinfo ENOTFOUND')))
    await assert.rejects(resolve(lookup, 'a.example'), /ENOTFOUND/)
  })
})

describe('[WHK-10] names that hang', () => {
  /** Answers of the resolver, given one by one. */
  function createResolver() {
    const asked: string[] = []
    const answers = new Map<string, (found: LookupAddress[] | Error) => void>()
    const lookup = createAddressLookup((hostname) => {
      asked.push(hostname)
      return new Promise((done, refuse) => {
        answers.set(hostname, (found) => (found instanceof Error ? refuse(found) : done(found)))
      })
    })
    const answer = (hostname: string): void => answers.get(hostname)?.([v4('192.0.2.1')])
    const fail = (hostname: string): void => answers.get(hostname)?.(new Error('SERVFAIL'))
    return { asked, lookup, answer, fail }
  }
  const turn = (): Promise<void> => new Promise((done) => setImmediate(done))

  test('are asked for once, however many wait for them', async () => {
    const { asked, lookup, answer } = createResolver()
    const waiting = [resolve(lookup, 'a'), resolve(lookup, 'a')]
    await turn()
    assert.deepEqual(asked, ['a'])
    answer('a')
    await Promise.all(waiting)
    const again = resolve(lookup, 'a')
    await turn()
    assert.deepEqual(asked, ['a', 'a'])
    answer('a')
    await again
  })

  test('hold up only each other, once they have failed', async () => {
    const { asked, lookup, answer, fail } = createResolver()
    for (const hostname of ['bad', 'worse']) {
      const first = resolve(lookup, hostname)
      await turn()
      fail(hostname)
      await assert.rejects(first)
    }
    const second = Promise.allSettled([resolve(lookup, 'bad'), resolve(lookup, 'worse')])
    const good = resolve(lookup, 'good')
    await turn()
    assert.deepEqual(asked.slice(2).sort(), ['bad', 'good'])
    answer('good')
    await good
    answer('bad')
    await turn()
    await turn()
    assert.deepEqual(asked.slice(4), ['worse'])
    answer('worse')
    await second
  })
})
