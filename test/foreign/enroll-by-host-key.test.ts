// Hosts that enrol by what they have already: a certificate of a real step-ca, an SSH host key in a hashed known_hosts, an SSH host
// certificate. Real hub, real agent; as root the files are root's alone, and the agent's directory is another user's.

import assert from 'node:assert/strict'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { agentEnvironment } from '../support/agent-environment.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import { createOpensslPki, type OpensslPki } from '../support/openssl-pki.ts'
import { type Ended, runProgram, runTool, type Variables } from '../support/processes.ts'
import { confirmationOf, openRawCaClient } from '../support/raw-ca-client.ts'
import { createSshKeys, type SshKey, type SshKeys } from '../support/ssh-keys.ts'
import { type RunningStepCa, startStepCa } from '../support/step-ca.ts'
import { withTools } from '../support/tools.ts'
import { WITH_STEP_CA } from './with-step-ca.ts'

/** Nobody, who has no files. */
const OWNER_ID = 65_534
const isRoot = process.geteuid?.() === 0
const skip = WITH_STEP_CA.skip || withTools('ssh-keygen').skip

describe('[JNR-23] [JNR-30] svc-agent enroll by a key that the host has', { skip }, () => {
  let ca: RunningStepCa
  let hub: HubProcess
  let directory: string
  let keys: SshKeys
  let pki: OpensslPki
  before(async () => {
    ca = await startStepCa()
    hub = await startHubProcess({
      caEnvironment: ca.environment,
      environment: { SVC_SERVER_CN: 'localhost' },
    })
    directory = await mkdtemp(join(tmpdir(), 'host-key-'))
    await chmod(directory, 0o755)
    keys = createSshKeys()
    pki = createOpensslPki()
  })
  after(async () => {
    pki[Symbol.dispose]()
    keys[Symbol.dispose]()
    await rm(directory, { recursive: true, force: true })
    await hub?.[Symbol.asyncDispose]()
    await ca[Symbol.asyncDispose]()
  })

  const svc = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await hub.svc(...args)
    assert.equal(status, 0, stderr)
    return stdout
  }
  const createRule = (name: string, ...method: string[]): Promise<string> =>
    svc('join-rule', 'create', name, ...method, ...BOUNDS)
  const enroll = async (
    hostname: string,
    args: readonly string[],
    extra: Variables = {},
  ): Promise<Ended> => {
    const dataDir = join(directory, hostname)
    await mkdir(dataDir, { recursive: true, mode: 0o755 })
    if (isRoot) await chown(dataDir, OWNER_ID, OWNER_ID)
    const environment = { ...agentEnvironment(hub, { hostname, dataDir }), ...extra }
    return runProgram('svc-agent', ['enroll', ...args], environment)
  }
  const lastEnrolled = async (): Promise<Readonly<Record<string, unknown>>> => {
    const text = await svc('event', 'list', '--type', 'agent_enrolled', '--json')
    const { eventos } = JSON.parse(text) as { eventos: { payload: Record<string, unknown> }[] }
    return eventos.at(-1)?.payload ?? assert.fail('somebody has enrolled')
  }
  const assertEnrolled = ({ status, stdout, stderr }: Ended, hostname: string): void => {
    assert.equal(status, 0, stderr)
    assert.match(stdout, new RegExp(`^enrolled ${hostname}$`, 'm'))
  }

  test('a certificate of a step-ca', async () => {
    const hostname = 'moved.example.org'
    const { certificatePath, keyPath } = await certifyBy(ca, hostname, directory)
    const shown = await createRule('moved', '--ca', ca.rootPath)
    assert.match(shown, /^authorities +CN=/m)
    assert.match(shown, /SVC_ENROLL_HOST_KEY=\/path\/to\/key\.pem svc-agent enroll/)
    const files = ['--host-certificate', certificatePath, '--host-key', keyPath]
    const other = await enroll('other.example.org', files)
    assert.equal(other.status, 1)
    assert.match(other.stderr, /hostname_mismatch \(403\)\n.*its key is not that of this name/)
    assertEnrolled(await enroll(hostname, files, { SVC_ENROLL_TOKEN: 'svct_other' }), hostname)
    const { join_rule, certificate_sha256 } = await lastEnrolled()
    assert.equal(join_rule, 'moved')
    const args = ['x509', '-in', certificatePath, '-noout', '-fingerprint', '-sha256']
    const printed = await runTool('openssl', args)
    const fingerprint = printed.split('=')[1]?.trim().replaceAll(':', '').toLowerCase()
    assert.equal(certificate_sha256, fingerprint)
  })

  test('an SSH host key whose name is hashed in known_hosts, and one that nobody knows', async () => {
    const hostname = 'known.example.org'
    const key = keys.make('ecdsa-256')
    const file = join(directory, 'known_hosts')
    await writeFile(file, `${keys.hashed(`${hostname} ${key.publicLine}`)}\n`)
    assert.match(await createRule('known', '--known-hosts', file), /^keys +1$/m)
    const stranger = keys.make('ed25519')
    const refused = await enroll(hostname, ['--ssh-host-key', stranger.path])
    assert.match(
      refused.stderr,
      /token_not_found \(401\)\n.*no join rule of the hub takes this key/,
    )
    const set = { SVC_ENROLL_SSH_HOST_KEY: key.path }
    assertEnrolled(await enroll(hostname, [], set), hostname)
    assert.equal((await lastEnrolled())['ssh_key'], keys.fingerprint(key))
  })

  test('an SSH host certificate, which is beside the key', async () => {
    const hostname = 'certified.example.org'
    const [key, authority]: SshKey[] = [keys.make('rsa-2048'), keys.make('ed25519')]
    assert.ok(key && authority)
    keys.certify(key, authority, ['-h', '-n', hostname, '-V', '-1h:+1d'])
    await createRule('certified', '--ssh-ca', `${authority.path}.pub`)
    assertEnrolled(await enroll(hostname, ['--ssh-host-key', key.path]), hostname)
    assert.equal((await lastEnrolled())['ssh_ca'], keys.fingerprint(authority))
    assert.match(await svc('join-rule', 'show', 'certified'), /certified\.example\.org/)
  })

  const wrong: [how: string, args: () => string[], said: RegExp][] = [
    [
      'a key that is not there',
      () => ['--ssh-host-key', join(directory, 'nothing')],
      /read .*nothing: not found\n.*hint: see SVC_ENROLL_HOST_CERTIFICATE/,
    ],
    [
      'a key with a passphrase',
      () => ['--ssh-host-key', keys.make('ed25519', { passphrase: 'secret' }).path],
      /the SSH host key in .*: encrypted\n.*hint: name a key of sshd/,
    ],
    [
      'a public key',
      () => ['--ssh-host-key', `${keys.make('ed25519').path}.pub`],
      /not an Ed25519, ECDSA .*\n.*hint: .*without \.pub/,
    ],
    [
      'the key of another certificate',
      () => {
        const [one, two] = [pki.make('one'), pki.make('two')]
        return ['--host-certificate', one.certificatePath, '--host-key', two.keyPath]
      },
      /is not the key of the first certificate in/,
    ],
    [
      'a certificate in place of its key',
      () => {
        const one = pki.make('one')
        return ['--host-certificate', one.certificatePath, '--host-key', one.certificatePath]
      },
      /has no private key in PEM/,
    ],
    [
      'a certificate without a key',
      () => ['--host-certificate', pki.make('one').certificatePath],
      /SVC_ENROLL_HOST_KEY goes with SVC_ENROLL_HOST_CERTIFICATE/,
    ],
    [
      'two ways at once',
      () => ['--host-certificate', '/a', '--host-key', '/b', '--ssh-host-key', '/c'],
      /a host enrols by one of them/,
    ],
  ]
  for (const [how, args, said] of wrong) {
    test(`${how} is refused with a hint, and its secrets are nowhere`, async () => {
      const { status, stdout, stderr } = await enroll('wrong.example.org', args())
      assert.notEqual(status, 0)
      assert.match(stderr, said)
      assert.doesNotMatch(`${stdout}${stderr}`, /PRIVATE|BEGIN/)
    })
  }
})

const BOUNDS = ['--pattern', '*.example.org', '--role', 'web', '--max-hosts', '5']

/** By its sign API, as `step ca certificate` asks it; root's files, in a directory that nobody else can enter. */
async function certifyBy(
  ca: RunningStepCa,
  hostname: string,
  directory: string,
): Promise<{ certificatePath: string; keyPath: string }> {
  const own = join(directory, 'secrets')
  await mkdir(own, { mode: 0o700 })
  const [keyPath, csrPath] = [join(own, 'host.key'), join(own, 'host.csr')]
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const named = ['-subj', `/CN=${hostname}`, '-addext', `subjectAltName=DNS:${hostname}`]
  const files = ['-keyout', keyPath, '-out', csrPath]
  await runTool('openssl', ['req', ...made, ...named, ...files])
  const csr = await runTool('openssl', ['req', '-in', csrPath])
  await using client = await openRawCaClient(ca)
  const cnf = confirmationOf(csr)
  const ott = await client.token({ sub: hostname, sans: [hostname], cnf })
  const { status, json } = await client.post('/1.0/sign', { csr, ott })
  assert.equal(status, 201, JSON.stringify(json))
  const certificatePath = join(own, 'host.pem')
  await writeFile(certificatePath, `${String(json['crt'])}${String(json['ca'])}`)
  return { certificatePath, keyPath }
}
