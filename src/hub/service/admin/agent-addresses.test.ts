import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agentAddresses, type HubNames } from './agent-addresses.ts'

const PORTS = { enroll: { port: 8444 }, enrollTls: { port: 8446 }, mtls: { port: 8443 } }
const NAMED: HubNames = {
  serverNames: ['hub.example.org', '192.0.2.7', '*.hubs.example.org'],
  isNamed: true,
  publicUrl: undefined,
}

describe('[CLI-70] [ENV-41] where hosts enrol', () => {
  test('is by default the hub’s name and its port with TLS', () => {
    assert.deepEqual(agentAddresses(NAMED, PORTS), {
      enrollUrl: 'https://hub.example.org:8446',
      mtlsUrl: 'https://hub.example.org:8443',
      isOwnTls: true,
      note: undefined,
    })
  })

  test('comes with a note while nobody has named the hub', () => {
    const unnamed = { serverNames: ['svc-server.local'], isNamed: false, publicUrl: undefined }
    const { note } = agentAddresses(unnamed, PORTS)
    assert.equal(
      note,
      'no host finds the hub as svc-server.local: set SVC_SERVER_CN of the hub to its name, or SVC_PUBLIC_URL to an https URL that leads to its port',
    )
  })

  test('comes with a note when the port is off, and is nothing that a root alone makes trusted', () => {
    const { enrollUrl, isOwnTls, note } = agentAddresses(NAMED, { ...PORTS, enrollTls: undefined })
    assert.deepEqual([enrollUrl, isOwnTls], ['https://hub.example.org:8444', false])
    assert.equal(
      note,
      'SVC_ENROLL_TLS_BIND is off: set SVC_PUBLIC_URL of the hub to the https URL of the proxy before its enroll port',
    )
  })

  const given: [url: string, printed: string, isOwnTls: boolean][] = [
    ['https://hub.example.org', 'https://hub.example.org', true],
    ['https://hub.example.org:443/', 'https://hub.example.org', true],
    ['https://192.0.2.7:18446', 'https://192.0.2.7:18446', true],
    ['https://eu.hubs.example.org:8446', 'https://eu.hubs.example.org:8446', true],
    // The proxy has a certificate of its own.
    ['https://enrol.example.org/hub/', 'https://enrol.example.org/hub', false],
  ]
  for (const [url, printed, isOwnTls] of given) {
    test(`is SVC_PUBLIC_URL=${url}, ${isOwnTls ? 'by' : 'not by'} the hub’s own certificate`, () => {
      const said = agentAddresses({ ...NAMED, publicUrl: new URL(url) }, PORTS)
      const { enrollUrl, isOwnTls: isOwn, note } = said
      assert.deepEqual([enrollUrl, isOwn, note], [printed, isOwnTls, undefined])
    })
  }
})
