// A trust key from its first day to its loss, as docs/operations.md tells it: the real hub, svc, svc-agent and minisign.
// docs/protocol.md TRK.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createRootPem } from '../../src/dev-ca/issuer.ts'
import { parseCertificatesPem } from '../../src/pki/certificates.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'
import type { AdminBundle } from '../../src/protocol/admin/views.ts'
import { readEvents } from '../support/audit-log.ts'
import type { TestHub } from '../support/hub.ts'
import { enrolHost, type ManagedHost } from '../support/managed-host.ts'
import { WITH_MINISIGN } from '../support/minisign.ts'
import { runProgram } from '../support/processes.ts'
import { pathOfTool } from '../support/tools.ts'
import { useCa } from '../support/use-hub.ts'

const { ca, startHub } = useCa()

describe('a trust key', WITH_MINISIGN, () => {
  const started = new AsyncDisposableStack()
  let directory: string
  let ownRoot: string
  let hub: TestHub
  /** Told on the host which key counts; and one that learns it when it enrols. */
  let told: ManagedHost
  let learner: ManagedHost

  const at = (name: string): string => join(directory, name)
  const writeRoots = (...roots: string[]): Promise<void> =>
    writeFile(at('roots.pem'), roots.join('\n'))

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'trust-key-'))
    started.defer(() => rm(directory, { recursive: true, force: true }))
    ownRoot = await readFile(ca.rootPath, 'utf8')
    await writeRoots(ownRoot)
    hub = started.use(
      await startHub({ SVC_CA_ROOT_CA_PATH: at('roots.pem'), SVC_SERVER_SANS: 'localhost' }),
    )
    for (const name of ['trust', 'next', 'third', 'thief']) {
      minisign('-G', '-W', '-p', at(`${name}.pub`), '-s', at(`${name}.key`))
    }
  })
  after(() => started.disposeAsync())

  const minisign = (...args: string[]): void =>
    void execFileSync(pathOfTool('minisign'), args, { stdio: 'pipe' })
  /** Away from the hub. */
  const sign = (name: string, text: string): void =>
    minisign('-S', '-s', at(`${name}.key`), '-m', at(text))
  const svc = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await hub.svc(...args)
    assert.equal(status, 0, stderr)
    return stdout
  }
  const refused = async (...args: string[]): Promise<string> => {
    const { status, stderr } = await hub.svc(...args)
    assert.equal(status, 1)
    return stderr
  }
  const prepare = async (text: string, ...more: string[]): Promise<void> =>
    writeFile(at(text), await svc('bundle', 'prepare', at('roots.pem'), ...more))
  const prepareKey = async (from: string, to: string, text: string): Promise<void> => {
    const names = [at(`${from}.pub`), at(`${to}.pub`)]
    await writeFile(at(text), await svc('bundle', 'prepare-key', ...names, '--fleet', 'prod'))
    sign(from, text)
  }
  const shown = async (): Promise<AdminBundle> =>
    JSON.parse(await svc('bundle', 'status', '--json')) as AdminBundle
  /** Without the host that did not believe the hub, and has an agent there all the same. */
  const pending = async (): Promise<AdminBundle['pendentes']> =>
    (await shown()).pendentes.filter(({ hostname }) => hostname !== 'misled')
  const poll = async (host: ManagedHost): Promise<void> => {
    const { status, stderr } = await host.agent('poll')
    assert.equal(status, 0, stderr)
  }
  const statusOf = async (host: ManagedHost) =>
    JSON.parse((await host.agent('status', '--json')).stdout) as {
      roots: { trust_key: string; refused: string | null }
    }
  const lineOf = async (name: string): Promise<string> =>
    `prod:${(await readFile(at(`${name}.pub`), 'utf8')).split('\n')[1]}`

  test('[TRK-8] [TRK-10] [CLI-110] [CLI-111] begins with a set that is signed where the secret key is', async () => {
    await prepareKey('trust', 'next', 'next.txt')
    await prepare('set.txt', '--fleet', 'prod')
    const [root] = parseCertificatesPem(ownRoot)
    const text = `cartorio trust set v1\nfleet prod\nepoca 1\nnumero 2\nroot ${root?.sha256}\n`
    assert.equal(await readFile(at('set.txt'), 'utf8'), text)
    const offline = ['--fleet', 'prod', '--number', '2']
    assert.equal(await svc('bundle', 'prepare', at('roots.pem'), ...offline), text)
    const unsigned = await refused('bundle', 'sign', at('set.txt'), '--trust-key', at('trust.pub'))
    assert.match(unsigned, /set\.txt\.minisig: not found\nsvc: hint: minisign -S/)
    sign('trust', 'set.txt')
    const wrongKey = await refused('bundle', 'sign', at('set.txt'), '--trust-key', at('thief.pub'))
    assert.match(wrongKey, /its signature: it is by another key/)
    const done = await svc('bundle', 'sign', at('set.txt'), '--trust-key', at('trust.pub'))
    assert.match(done, /^the roots are now set 2, signed by the trust key\n/)
    assert.ok(done.includes(`SVC_AGENT_TRUST_KEY=${await lineOf('trust')}\n`))
    assert.equal((await shown()).trust_key, await lineOf('trust'))
    assert.match(await refused('bundle', 'sign', at('set.txt')), /has the number 2 already/)
  })

  test('[TRK-8] the hub takes no root from its file alone, at a start neither', async () => {
    const validity = { notBefore: new Date(), notAfter: new Date(Date.now() + 86_400_000) }
    const other = await createRootPem(
      { commonName: 'other', ...validity },
      await generateEcP256Key(),
    )
    await writeRoots(ownRoot, other)
    const hint = /signs every set: .*\nsvc: hint: svc bundle prepare <root-file> > set\.txt/
    assert.match(await refused('bundle', 'update', '--force'), hint)
    assert.match(await refused('bundle', 'sign', at('set.txt')), /the root file holds other roots/)
    await hub.stop()
    await hub.start()
    assert.equal((await shown()).numero, 2)
    assert.equal((await shown()).file_differs, true)
  })

  test('[TRK-6] [TRK-7] [AGV-32] hosts that enrol demand it', async () => {
    const trustKey = await lineOf('trust')
    told = started.use(await enrolHost(hub, 'told', { SVC_AGENT_TRUST_KEY: trustKey }))
    learner = started.use(await enrolHost(hub, 'learner'))
    const thief = enrolHost(hub, 'misled', { SVC_AGENT_TRUST_KEY: await lineOf('thief') })
    await assert.rejects(thief, /cannot be trusted: its roots: its signature: it is by another key/)
    for (const host of [told, learner]) {
      await poll(host)
      assert.deepEqual((await statusOf(host)).roots, { trust_key: trustKey, refused: null })
    }
    assert.deepEqual(await pending(), [])
  })

  test('[TRK-4] agents refuse the roots of who holds the hub, and go on', async () => {
    await prepare('evil.txt')
    sign('thief', 'evil.txt')
    const evil = ['bundle', 'sign', at('evil.txt'), '--trust-key', at('thief.pub')]
    assert.match(await refused(...evil), /agents that demand it refuse/)
    await svc(...evil, '--force')
    for (const host of [told, learner]) {
      const { status, stderr } = await host.agent('poll')
      assert.equal(status, 1)
      assert.match(stderr, /roots 3 not adopted: its signature: it is by another key/)
      const [event] = await readEvents(hub, 'bundle_refused', host)
      assert.match(String(event?.payload['erro']), /by another key/)
      assert.equal((await statusOf(host)).roots.trust_key, await lineOf('trust'))
      const caFile = await readFile(join(host.dataDir, 'identity/ca.pem'), 'utf8')
      assert.equal(parseCertificatesPem(caFile).length, 1)
    }
    assert.equal((await pending()).length, 2)
    for (const { erro } of await pending()) assert.match(String(erro), /by another key/)
  })

  test('[TRK-3] [TRK-9] a lost key is replaced by the one that it named in advance, and that by a third', async () => {
    await writeRoots(ownRoot)
    // Who has the first key undoes what the thief did.
    await prepare('back.txt')
    sign('trust', 'back.txt')
    await svc('bundle', 'sign', at('back.txt'), '--trust-key', at('trust.pub'), '--force')
    await prepare('set.txt')
    sign('next', 'set.txt')
    assert.match(await refused('bundle', 'sign', at('set.txt')), /by another key/)
    await svc('bundle', 'sign', at('set.txt'), '--key-change', at('next.txt'))
    await poll(told)
    assert.deepEqual(
      (await pending()).map(({ hostname }) => hostname),
      ['learner'],
    )
    // The other one is away for this change, and the next.
    await prepareKey('next', 'third', 'third.txt')
    await prepare('set.txt')
    sign('third', 'set.txt')
    await svc('bundle', 'sign', at('set.txt'), '--key-change', at('third.txt'))
    for (const host of [told, learner]) {
      await poll(host)
      assert.deepEqual((await statusOf(host)).roots, {
        trust_key: await lineOf('third'),
        refused: null,
      })
    }
    assert.deepEqual(await pending(), [])
    // Settings that still name the first key are no matter, nor is an enrolment anew.
    const token = await hub.createToken({ hostname: 'told', reenroll: true })
    const enrolled = await runProgram('svc-agent', ['enroll', '--replace'], {
      ...told.environment,
      SVC_ENROLL_TOKEN: token,
    })
    assert.equal(enrolled.status, 0, enrolled.stderr)
    assert.equal((await statusOf(told)).roots.trust_key, await lineOf('third'))
    started.use(await enrolHost(hub, 'late', { SVC_AGENT_TRUST_KEY: await lineOf('trust') }))
  })
})
