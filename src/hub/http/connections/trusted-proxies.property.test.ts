import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import { fastify } from 'fastify'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../../../test/support/property.ts'
import { clientAddressOf, parseTrustedProxies } from './trusted-proxies.ts'

const blank = fc.constantFrom('', ' ', '  ')

function bitsOf(address: string): bigint {
  return address.split('.').reduce((bits, part) => bits * 256n + BigInt(part), 0n)
}

test('[SRF-18] [ENV-17] an IPv4 range holds exactly the addresses with its first bits', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.nat({ max: 32 }), fc.ipV4(), (network, prefix, other) => {
      const isTrusted = parseTrustedProxies(`${network}/${prefix}`)
      const shift = BigInt(32 - prefix)
      const expected = bitsOf(network) >> shift === bitsOf(other) >> shift
      assert.equal(isTrusted?.(other), expected)
      assert.equal(isTrusted?.(`::ffff:${other}`), expected)
      assert.equal(isTrusted?.(network), true)
    }),
    propertyRuns(500),
  )
})

test('[SRF-18] a list trusts whom any of its entries trusts, blanks and empty entries apart', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6())
  fc.assert(
    fc.property(fc.array(address, { maxLength: 5 }), address, blank, (list, other, gap) => {
      const isTrusted = parseTrustedProxies(`,${list.join(`${gap},${gap}`)}, `)
      assert.ok(isTrusted)
      for (const one of list) assert.equal(isTrusted(one), true)
      if (isTrusted(other)) assert.ok(list.some((one) => parseTrustedProxies(one)?.(other)))
    }),
    propertyRuns(300),
  )
})

test('[ENV-17] whatever else an entry has makes the list none', () => {
  const tail = fc.string({ minLength: 1 }).filter((text) => !/^[\d.,\s]|^[,\s]*$/.test(text))
  const entry = fc.oneof(
    fc.tuple(fc.ipV4(), fc.integer({ min: 33, max: 999 })).map(([ip, bits]) => `${ip}/${bits}`),
    fc.tuple(fc.ipV6(), fc.integer({ min: 129, max: 999 })).map(([ip, bits]) => `${ip}/${bits}`),
    fc.tuple(fc.ipV4(), fc.nat({ max: 32 }), fc.nat()).map((parts) => parts.join('/')),
    fc.tuple(fc.ipV4(), tail).map(([ip, text]) => `${ip}${text.startsWith('/') ? '/' : ''}${text}`),
    fc.domain(),
    fc.constantFrom('*', '/', '/8', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/ 8x', '[::1]', '10/8'),
  )
  fc.assert(
    fc.property(entry, (text) => {
      assert.equal(parseTrustedProxies(`127.0.0.1,${text}`), undefined)
    }),
    propertyRuns(500),
  )
})

test('[SRF-18] no list and no address makes it throw, and what is no address is not trusted', () => {
  const near = fc.string({
    unit: fc.constantFrom('10', '.', ':', '/', ',', '%', 'f', '::ffff:', ' '),
  })
  const texts = fc.oneof(anyText(), near)
  fc.assert(
    fc.property(texts, texts, (list, address) => {
      parseTrustedProxies(list)?.(address)
      const everyone = parseTrustedProxies('0.0.0.0/0,::/0')
      const plain = address.replace(/^::ffff:/, '')
      if (isIP(plain) === 0) assert.equal(everyone?.(address), false)
    }),
    propertyRuns(2000),
  )
})

test('[SRF-18] a client is whom Fastify takes for it', async () => {
  const isTrusted = parseTrustedProxies('10.0.0.0/8, 2001:db8::/32')
  assert.ok(isTrusted)
  const app = fastify({ trustProxy: isTrusted })
  const clients: string[] = []
  app.get('/', (request) => {
    clients.push(clientAddressOf(request.raw, isTrusted), request.ip)
    return ''
  })
  const hop = fc.constantFrom(
    '10.0.0.1',
    '10.1.2.3',
    '2001:db8::1',
    '192.0.2.1',
    'unknown',
    '',
    ' ',
  )
  const chain = fc.array(hop, { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(hop, fc.option(chain), blank, async (remoteAddress, hops, gap) => {
      const headers = hops === null ? {} : { 'x-forwarded-for': hops.join(`,${gap}`) }
      await app.inject({ url: '/', remoteAddress, headers })
      const [client, expected] = clients.splice(0)
      assert.equal(client, expected)
    }),
    propertyRuns(300),
  )
})
