// A host with a TPM, which is simulated, from the list of an operator to an identity: the real hub, the real agent, tpm2-tools.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { WITH_ENROLL_TLS } from '../support/hub.ts'
import { type Ended, pathOfProgram, runProgram, type Variables } from '../support/processes.ts'
import { type SimulatedTpm, startTpm, WITH_TPM } from '../support/swtpm.ts'
import { useHub } from '../support/use-hub.ts'

describe('[JNR-45] a host without any secret', WITH_TPM, () => {
  const { hub } = useHub(undefined, { SVC_SERVER_CN: 'localhost', ...WITH_ENROLL_TLS })
  let tpm: SimulatedTpm
  let directory: string
  before(async () => {
    tpm = await startTpm()
    directory = await mkdtemp(join(tmpdir(), 'tpm-hosts-'))
  })
  after(async () => {
    await tpm[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
  })

  const dataDirOf = (hostname: string): string => join(directory, hostname, 'data')

  /** As somebody does it: in a shell, on the host. */
  function paste(command: string, hostname: string, variables: Variables = {}): Promise<Ended> {
    return runProgram('/bin/sh', ['-c', command], {
      ...tpm.env,
      PATH: `${dirname(pathOfProgram('svc-agent'))}:${tpm.env.PATH}`,
      SVC_AGENT_DATA_DIR: dataDirOf(hostname),
      SVC_AGENT_HOSTNAME: hostname,
      ...variables,
    })
  }

  async function createRule(name: string, wanted: object): Promise<string> {
    const rule = { name, method: 'tpm', tpm: wanted, role: 'rack', hosts_max: 9 }
    const created = await hub.admin<{ agent_command: string }>('POST', '/v1/admin/join-rules', {
      ...rule,
      pattern: '*.tpm.example.org',
    })
    return created.agent_command
  }

  test('is refused by a hub without a rule for its TPM, and told what a list needs of it', async () => {
    const command = await createRule('other', { keys: [{ ek_sha256: 'a'.repeat(64) }] })
    const { status, stderr } = await paste(command, 'r1.tpm.example.org')
    assert.equal(status, 1)
    assert.match(stderr, /refused the enrolment: token_not_found \(401\)/)
    assert.match(stderr, /svc-agent tpm prints/)
  })

  test('enrols once it is listed by what it prints of itself', async () => {
    const hostname = 'r1.tpm.example.org'
    const { status, stdout, stderr } = await paste('svc-agent tpm', hostname)
    assert.equal(status, 0, stderr)
    const [line = '', ek_sha256] =
      /^([0-9a-f]{64}) r1\.tpm\.example\.org {2}# certificate of CN=swtpm-localca\n$/.exec(
        stdout,
      ) ?? []
    assert.notEqual(line, '', stdout)
    const command = await createRule('racks', { keys: [{ ek_sha256, hostname }] })
    const enrolled = await paste(command, hostname)
    assert.equal(enrolled.status, 0, enrolled.stderr)
    assert.match(enrolled.stdout, /^enrolled r1\.tpm\.example\.org\n/)
    assert.ok(existsSync(join(dataDirOf(hostname), 'identity/agent.crt')))
  })

  test('is one host, also by what its maker certified', async () => {
    const command = await createRule('makers', { ca: tpm.makerPem })
    const { status, stderr } = await paste(command, 'r2.tpm.example.org')
    assert.equal(status, 1)
    assert.match(stderr, /refused the enrolment: token_consumed \(401\)/)
    assert.match(stderr, /hint: a TPM lets one host in/)
  })

  test('enrols by its maker alone', async () => {
    await using other = await startTpm()
    const command = await createRule('maker-of-another', { ca: other.makerPem })
    const { status, stderr } = await paste(command, 'r3.tpm.example.org', {
      TPM2TOOLS_TCTI: other.env.TPM2TOOLS_TCTI,
    })
    assert.equal(status, 0, stderr)
  })

  test('is told that a token and a TPM do not go together', async () => {
    const command = await createRule('both', { ca: tpm.makerPem })
    const { status, stderr } = await paste(command, 'r4.tpm.example.org', {
      SVC_ENROLL_TOKEN: 'svct_x',
    })
    assert.equal(status, 1)
    assert.match(stderr, /SVC_ENROLL_TPM: a host enrols by one of them/)
  })
})
