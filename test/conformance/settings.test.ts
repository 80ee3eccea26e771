// The hub's variables and its log: docs/protocol.md ENV and LOG.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createKeyAndCsr, enrollHost } from '../support/enrolled-host.ts'
import { PASSPHRASE, type TestHub } from '../support/hub.ts'
import { runProgram, startProgram, waitUntil } from '../support/processes.ts'
import { useCa } from '../support/use-hub.ts'
import { post, send } from '../support/wire-client.ts'

const { ca, startHub, startHubProcess } = useCa()

const messagesOf = (hub: TestHub): unknown[] => hub.logEntries().map(({ msg }) => msg)

describe('settings', () => {
  test('[ENV-16] [VLT-18] secrets come from files, without their final line break; one that others can read is warned about', async () => {
    await using hub = await startHub()
    await hub.stop()
    const passphrasePath = join(hub.directory, 'passphrase')
    const keyPath = join(hub.directory, 'key.json')
    await writeFile(passphrasePath, `${PASSPHRASE}\n`, { mode: 0o644 })
    await writeFile(keyPath, `${ca.provisionerKey}\r\n`)
    await hub.start({
      SVC_MASTER_PASSPHRASE: '',
      SVC_MASTER_PASSPHRASE_FILE: passphrasePath,
      SVC_CA_PROVISIONER_KEY: '',
      SVC_CA_PROVISIONER_KEY_FILE: keyPath,
    })
    await enrollHost(hub, 'by-file.example')
    const warnings = hub.logEntries().filter(({ msg }) => msg === 'Weak master passphrase')
    const [{ level, reason } = {}] = warnings
    assert.deepEqual(
      [warnings.length, level, reason],
      [
        1,
        'warn',
        `SVC_MASTER_PASSPHRASE_FILE: every user of this machine can read ${passphrasePath}`,
      ],
    )
  })

  test('[ENV-12] SVC_CA_PROVISIONER_NAME is used in place of asking the CA', async () => {
    await using hub = await startHub({ SVC_CA_PROVISIONER_NAME: ca.provisionerName })
    await enrollHost(hub, 'named.example')
  })

  test('[ENV-17] [WRD-8] an unknown SVC_ variable is a warning, those of the agent are not', async () => {
    await using hub = await startHub({ SVC_VAULT_ROOTT: 'x', SVC_AGENT_ROLE: 'web', OTHER: 'x' })
    const warnings = hub.logEntries().filter(({ level }) => level === 'warn')
    assert.deepEqual(
      warnings.map(({ variable }) => variable),
      ['SVC_VAULT_ROOTT'],
    )
  })

  test('[LOG-1] [ENV-15] logs are JSON lines on stderr when that is no terminal, or text by SVC_LOG_FORMAT', async () => {
    await using hub = await startHubProcess()
    for (const entry of hub.logEntries()) {
      assert.match(String(entry['time']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.equal(typeof entry['level'], 'string')
      assert.equal(typeof entry['module'], 'string')
    }
    assert.equal((await hub.stop()).stdout, '')
    const text = startProgram('svc-server', [], { ...hub.environment, SVC_LOG_FORMAT: 'text' })
    await waitUntil('the last line', () => text.stderr().includes('mtls listening') || undefined)
    text.kill('SIGTERM')
    assert.doesNotMatch((await text.ended).stderr, /^\{/m)
  })

  test('[LOG-3] [ENV-11] RUST_LOG filters by module and level', async () => {
    await using hub = await startHub({ RUST_LOG: 'hub.enroll=debug,hub.health=off,info' })
    await send({ port: hub.ports.health }, { path: '/none' })
    await post({ port: hub.ports.enroll }, '/v1/enroll', {})
    await waitUntil('the refusal in the log', () => hub.logText().includes('400') || undefined)
    await enrollHost(hub, 'filtered.example')
    const enrollLines = await waitUntil('a debug line', () => {
      const lines = hub.logEntries().filter(({ level }) => level === 'debug')
      return lines.length > 0 ? lines : undefined
    })
    for (const { module } of enrollLines) assert.equal(module, 'hub.enroll')
    assert.ok(!hub.logText().includes('hub.health'))
  })

  test('[LOG-3] a bad filter is reported and replaced by info', async () => {
    await using hub = await startHubProcess({ RUST_LOG: 'loud' })
    const [first] = hub.logEntries()
    assert.deepEqual([first?.['level'], first?.['rust_log']], ['warn', 'loud'])
    assert.ok(messagesOf(hub).includes('starting'))
  })

  test('[LOG-2] [CAX-11] [TOK-1] neither tokens nor keys, passphrase and one-time tokens are ever logged', async () => {
    await using hub = await startHubProcess({ RUST_LOG: 'trace' })
    const hostname = 'discreet.example'
    const token = await hub.createToken({ hostname })
    const body = { token, hostname: 'other.example', role: 'web', csr_pem: 'x' }
    await post({ port: hub.ports.enroll }, '/v1/enroll', body)
    await post({ port: hub.ports.enroll }, `/v1/enroll?x=1`, { ...body, token: `${token}x` })
    const host = await enrollHost(hub, 'discreet-too.example')
    await send(host.mtls, { path: '/v1/manifest' })
    await ca.stop()
    const again = { ...body, hostname, csr_pem: (await createKeyAndCsr(hostname)).csrPem }
    await post({ port: hub.ports.enroll }, '/v1/enroll', again)
    await ca.start()
    await post({ port: hub.ports.enroll }, '/v1/enroll', again)
    const log = (await hub.stop()).stderr
    const { d } = JSON.parse(ca.provisionerKey) as { d: string }
    for (const secret of [token, PASSPHRASE, d, 'PRIVATE KEY', 'CERTIFICATE REQUEST']) {
      assert.ok(!log.includes(secret), secret)
    }
    // A compact JWT begins with the base64url of `{"`.
    assert.doesNotMatch(log, /eyJ[\w-]+\.[\w-]+\.[\w-]+/)
    assert.ok(log.includes('"level":"debug"'))
  })

  test('[LOG-2] no secret is in the arguments of the hub', async () => {
    await using hub = await startHubProcess()
    const line = await readFile(`/proc/${hub.pid}/cmdline`, 'utf8')
    // Of the sources or of the bundle that the first tier starts.
    assert.match(line, /hub\/main\.ts|svc-server/)
    assert.ok(!line.includes(PASSPHRASE))
  })
})

describe('the programs', () => {
  test('[VER-4] [WRD-8] [WRD-9] all say the one version and have help with examples', async () => {
    const manifest = new URL('../../package.json', import.meta.url)
    const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string }
    for (const program of ['svc-server', 'svc', 'svc-agent', 'svc-ca']) {
      const said = await runProgram(program, ['--version'], {})
      assert.deepEqual([said.status, said.stdout.includes(version)], [0, true], program)
      const help = await runProgram(program, ['--help'], {})
      assert.equal(help.status, 0)
      assert.match(help.stdout, /Examples?:/, program)
    }
  })
})
