import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AgentCommand } from './agent-variables.ts'
import { parseAgentConfig } from './config.ts'
import { targetsStateDir } from '../targets/targets-state.ts'

function parse(env: Record<string, string>, command: AgentCommand = 'run') {
  return parseAgentConfig(env, { command, osHostname: 'Web-1' })
}

const URLS = {
  SVC_SERVER_URL: 'https://hub.example:8444',
  SVC_SERVER_MTLS_URL: 'https://hub.example:8443',
}

describe('the agent’s environment', () => {
  const missing: [AgentCommand, string][] = [
    ['enroll', 'SVC_SERVER_URL required\nSVC_AGENT_ROLE required\nSVC_ENROLL_TOKEN required'],
    ['run', 'SVC_SERVER_URL required\nSVC_SERVER_MTLS_URL required'],
    ['rotate', 'SVC_SERVER_URL required\nSVC_SERVER_MTLS_URL required'],
  ]
  for (const [command, message] of missing) {
    test(`[AGV-1] [AGV-2] [AGV-5] [AGV-7] [AGV-17] ${command} names every missing variable, in the table's order`, () => {
      assert.throws(() => parse({}, command), { message })
      assert.throws(() => parse({ SVC_SERVER_URL: ' ', SVC_AGENT_ROLE: '' }, command), { message })
    })
  }

  test('[AGV-6] identity needs none, and the data directory has a default', () => {
    assert.equal(parse({}, 'identity').dataDir, '/var/lib/svc-agent')
  })

  test('[LIM-17] [AGV-4] [AGV-8] [AGV-9] [AGV-10] [AGV-11] [AGV-12] has the specified defaults', () => {
    const config = parse(URLS)
    assert.equal(config.pollIntervalMs, 30_000)
    assert.equal(config.renewalThresholdMs, 6 * 3_600_000)
    assert.equal(config.outDir, '/var/lib/svc-agent/out')
    assert.equal(config.stateDir, '/var/lib/svc-agent/state')
    assert.equal(config.hookDir, '/var/lib/svc-agent/hooks')
    assert.equal(config.hostname, 'web-1')
  })

  test('[AGV-22] [AGV-23] has targets in the data directory, and root’s journal of them outside it', () => {
    const config = parse({ SVC_AGENT_DATA_DIR: '/data/' }, 'targets')
    assert.equal(config.targetsDir, '/data/targets.d')
    assert.equal(targetsStateDir(config, 1000), '/data/targets-state')
    assert.equal(targetsStateDir(config, 0), '/data-targets')
    const given = parse(
      { SVC_AGENT_TARGETS_DIR: '/t', SVC_AGENT_TARGETS_STATE_DIR: '/s/' },
      'targets',
    )
    assert.equal(given.targetsDir, '/t')
    assert.deepEqual([targetsStateDir(given, 0), targetsStateDir(given, 1000)], ['/s', '/s'])
  })

  test('[AGV-33] has labels of its host, or says what is wrong with them', () => {
    assert.deepEqual([...parse(URLS).labels], [])
    assert.deepEqual([...parse({ ...URLS, SVC_LABELS: 'rack=r7' }).labels], [['rack', 'r7']])
    assert.throws(() => parse({ ...URLS, SVC_LABELS: 'rack' }), {
      message: 'SVC_LABELS is not key=value: rack',
    })
  })

  test('[AGV-41] follows no announcements unless it is told where releases are, by version and safely', () => {
    assert.equal(parse(URLS).updateUrl, undefined)
    for (const url of [
      'https://releases.example.org/agent/{version}/{arch}',
      'http://127.0.0.1:8099/{version}',
    ]) {
      assert.equal(parse({ ...URLS, SVC_AGENT_UPDATE_URL: url }).updateUrl, url)
    }
    for (const [url, why] of [
      ['https://releases.example.org/agent', 'has no {version} where the version stands'],
      ['http://releases.example.org/{version}', 'is not a plain https URL'],
      ['file:///srv/{version}', 'is not a plain https URL'],
      ['https://user:secret@releases.example.org/{version}', 'is not a plain https URL'],
      ['https://releases.example.org/{version}?a=b', 'is not a plain https URL'],
      ['{version}', 'is not a plain https URL'],
    ] as const) {
      const message = `SVC_AGENT_UPDATE_URL ${why}: ${url}`
      assert.throws(() => parse({ ...URLS, SVC_AGENT_UPDATE_URL: url }), { message }, url)
    }
  })

  test('[AGV-25] holds the hub’s stream unless that is switched off', () => {
    assert.equal(parse(URLS).hasStream, true)
    assert.equal(parse({ ...URLS, SVC_AGENT_STREAM: 'on' }).hasStream, true)
    assert.equal(parse({ ...URLS, SVC_AGENT_STREAM: 'off' }).hasStream, false)
  })

  test('[WRD-13] prints English unless SVC_LANG says otherwise, and run starts whatever it says', () => {
    assert.equal(parse({}, 'status').language, 'en')
    assert.equal(parse({ SVC_LANG: 'pt' }, 'status').language, 'pt')
    assert.throws(
      () => parse({ SVC_LANG: 'fr' }, 'status'),
      /^UserError: SVC_LANG must be en or pt: fr$/,
    )
    assert.equal(parse({ ...URLS, SVC_LANG: 'fr' }).language, 'en')
  })

  const wrong: [variable: string, value: string, message: RegExp][] = [
    ['SVC_AGENT_STREAM', '0', /SVC_AGENT_STREAM must be on or off: 0$/],
    [
      'SVC_AGENT_POLL_INTERVAL',
      '10',
      /SVC_AGENT_POLL_INTERVAL is not a duration such as 30s or 1h 30m: 10/,
    ],
    ['SVC_AGENT_POLL_INTERVAL', '0s', /must be at least 100ms/],
    ['SVC_AGENT_RENEWAL_THRESHOLD', 'soon', /is not a duration/],
    ['SVC_SERVER_URL', 'http://hub.example', /must be https/],
    ['SVC_SERVER_URL', 'hub.example', /is not an https URL/],
    [
      'SVC_SERVER_MTLS_URL',
      'http://127.0.0.1:8443',
      /: SVC_SERVER_MTLS_URL must be https: http:\/\/127\.0\.0\.1:8443; did you mean https:\/\/127\.0\.0\.1:8443\?$/,
    ],
    ['SVC_SERVER_URL', 'https://user@hub.example', /must have no credentials/],
  ]
  for (const [variable, value, message] of wrong) {
    test(`[AGT-11] [AGV-15] refuses ${variable}=${value}`, () => {
      assert.throws(() => parse({ ...URLS, [variable]: value }), message)
    })
  }

  for (const url of ['http://127.0.0.1:8444', 'http://localhost:1', 'http://[::1]:1']) {
    test(`[AGT-11] takes plain http for loopback: ${url}`, () => {
      assert.equal(parse({ ...URLS, SVC_SERVER_URL: url }).serverUrl?.href, new URL(url).href)
    })
  }

  test('[AGT-11] [AGV-14] takes plain http for the enroll URL, and only for it, when it is allowed', () => {
    const http = 'http://hub.example'
    assert.ok(parse({ ...URLS, SVC_SERVER_URL: http, SVC_ALLOW_HTTP: '1' }).serverUrl)
    assert.throws(
      () => parse({ ...URLS, SVC_SERVER_MTLS_URL: http, SVC_ALLOW_HTTP: '1' }),
      /must be https/,
    )
  })

  test('[AGT-9] the OS’s hostname is lower-cased; one that is given is taken as it is, and refused when it cannot be one', () => {
    const env = { ...URLS, SVC_AGENT_ROLE: 'web', SVC_ENROLL_TOKEN_FILE: '/token' }
    assert.throws(
      () => parse({ ...env, SVC_AGENT_HOSTNAME: 'Web-1' }, 'enroll'),
      /SVC_AGENT_HOSTNAME is not/,
    )
    assert.equal(parse(env, 'enroll').hostname, 'web-1')
  })

  test('[AGV-40] a TPM stands in for a token, and not beside one', () => {
    const env = { ...URLS, SVC_AGENT_ROLE: 'web' }
    assert.equal(parse({ ...env, SVC_ENROLL_TPM: '1' }, 'enroll').enrollByTpm, true)
    assert.equal(parse({ ...env, SVC_ENROLL_TOKEN: 'x' }, 'enroll').enrollByTpm, false)
    for (const name of ['SVC_ENROLL_TOKEN', 'SVC_ENROLL_TOKEN_FILE', 'SVC_ENROLL_SSH_HOST_KEY']) {
      assert.throws(() => parse({ ...env, SVC_ENROLL_TPM: '1', [name]: '/x' }, 'enroll'), {
        message: /^SVC_ENROLL_TOKEN or its file, .*SVC_ENROLL_TPM: a host enrols by one of them/,
      })
    }
    assert.throws(() => parse({ ...env, SVC_ENROLL_TPM: 'yes' }, 'enroll'), /must be 0 or 1: yes/)
    assert.throws(() => parse({ ...env, SVC_ENROLL_TPM: '0' }, 'enroll'), {
      message: 'SVC_ENROLL_TOKEN required',
    })
  })

  test('[AGV-16] names variables that it does not know', () => {
    assert.deepEqual(parse({ ...URLS, SVC_TYPO: 'x' }).unknownVariables, ['SVC_TYPO'])
  })

  test('[AGV-34] [AGV-35] [AGV-36] a key that the host has stands in for a token, and one of them counts', () => {
    const env = { ...URLS, SVC_AGENT_ROLE: 'web' }
    const certificate = { SVC_ENROLL_HOST_CERTIFICATE: '/a.pem', SVC_ENROLL_HOST_KEY: '/a.key' }
    const ssh = { SVC_ENROLL_SSH_HOST_KEY: '/b' }
    assert.deepEqual(parse({ ...env, ...certificate }, 'enroll').hostKey, {
      method: 'x5c',
      certificatePath: '/a.pem',
      keyPath: '/a.key',
    })
    const { hostKey } = parse({ ...env, ...ssh }, 'enroll')
    assert.deepEqual(hostKey, { method: 'ssh', keyPath: '/b' })
    for (const two of [
      certificate,
      { SVC_ENROLL_TOKEN: 'svct_x' },
      { SVC_ENROLL_TOKEN_FILE: '-' },
    ]) {
      assert.throws(() => parse({ ...env, ...ssh, ...two }, 'enroll'), /enrols by one of them/)
    }
    for (const alone of Object.keys(certificate)) {
      const half = { SVC_ENROLL_TOKEN: alone.endsWith('KEY') ? 'svct_x' : '', [alone]: '/a' }
      assert.throws(() => parse({ ...env, ...half }, 'enroll'), /SVC_ENROLL_HOST_KEY goes with/)
    }
    assert.equal(parse({ ...URLS, ...ssh, ...certificate }, 'run').hostKey, undefined)
  })

  test('never shows the token', () => {
    const config = parse(
      { ...URLS, SVC_AGENT_ROLE: 'web', SVC_ENROLL_TOKEN: 'svct_secret' },
      'enroll',
    )
    assert.equal(JSON.stringify(config).includes('svct_secret'), false)
  })
})
