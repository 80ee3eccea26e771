import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeOwnDirectory, WITH_OWN_PLACE } from '../../../test/support/own-place.ts'
import { createFakeCa } from '../../../test/fakes/hub-certificates.ts'
import { createCsrPem } from '../../pki/csr.ts'
import { generateEcP256Key } from '../../pki/keys.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import { readInstalledPair, storePair } from '../delivery/installed-pair.ts'

const BIN = fileURLToPath(new URL('../../../bin/svc-agent', import.meta.url))
const ownUid = process.getuid?.() ?? 0
const isRoot = ownUid === 0
const needsRoot = isRoot ? false : 'only root can make files of other users'
const AGENT = 4343

interface Host {
  readonly root: string
  readonly dataDir: string
  readonly targetsDir: string
  readonly put: (name: string, text: string) => Promise<string>
  readonly check: (
    ...args: string[]
  ) => Promise<{ status: number | null; stdout: string; stderr: string }>
}

async function withHost(work: (host: Host) => Promise<void>): Promise<void> {
  const root = await makeOwnDirectory('svc-agent-check-')
  const dataDir = join(root, 'data')
  const targetsDir = join(root, 'etc')
  await mkdir(join(dataDir, 'out'), { recursive: true, mode: 0o755 })
  await mkdir(targetsDir, { mode: 0o755 })
  const env = {
    PATH: process.env['PATH'] ?? '',
    SVC_AGENT_DATA_DIR: dataDir,
    SVC_AGENT_TARGETS_DIR: targetsDir,
  }
  try {
    await work({
      root,
      dataDir,
      targetsDir,
      async put(name, text) {
        const path = join(targetsDir, name)
        await writeFile(path, text, { mode: 0o644 })
        return path
      },
      check: (...args) =>
        new Promise((resolve) => {
          const child = execFile(
            BIN,
            ['targets', 'check', ...args],
            { env },
            (_e, stdout, stderr) => resolve({ status: child.exitCode, stdout, stderr }),
          )
        }),
    })
  } finally {
    await rm(root, { recursive: true })
  }
}

async function installPair(outDir: string): Promise<void> {
  const ca = await createFakeCa()
  const key = await generateEcP256Key()
  const certificatePem = await ca.sign(await createCsrPem('web-1', key), {
    commonName: 'web-1',
    notBefore: new Date('2026-01-01T00:00:00Z'),
    notAfter: new Date('2036-01-02T03:04:05Z'),
  })
  const record = { delivery_id: 'd', cargo_id: 'c', version: 1, request_id: 'r', renewal: null }
  await storePair(outDir, 'site' as ArtefactName, { certificatePem, keyPem: key.pem, record })
}

describe('svc-agent targets check', WITH_OWN_PLACE, () => {
  test('[TGT-9] says that there are none', () =>
    withHost(async ({ targetsDir, check }) => {
      const result = await check()
      assert.deepEqual(result, { status: 0, stdout: `no targets in ${targetsDir}\n`, stderr: '' })
    }))

  test('[TGT-9] says in words what each target does, changes nothing and exits with 0', () =>
    withHost(async ({ root, dataDir, put, check }) => {
      await installPair(join(dataDir, 'out'))
      const pair = await readInstalledPair(join(dataDir, 'out'), 'site' as ArtefactName)
      await writeFile(join(root, 'password'), 'x', { mode: 0o600 })
      const source = await put(
        'site.toml',
        `nome = "site"
key_type = "rsa-3072"
reload = ["systemctl", "reload", "my service"]
probe = "[::1]:5432"
probe_protocol = "postgres"
[[file]]
path = "${root}/site.pem"
content = ["cert", "key"]
[[file]]
path = "${root}/site.p12"
format = "pkcs12"
password_file = "${root}/password"
mode = "0400"
`,
      )
      const quiet = await put(
        'quiet.toml',
        `nome = "other"\n[[file]]\npath = "${root}/ca.pem"\ncontent = ["ca"]\n`,
      )
      const { status, stdout, stderr } = await check()
      const applier = isRoot ? 'root' : `user ${ownUid}`
      assert.deepEqual(
        { status, stdout, stderr },
        {
          status: 0,
          stdout: `other (${quiet}), applied by ${applier}
  delivery: not installed yet
  key type: ec-p256
  writes ${root}/ca.pem: ca; owner ${applier}, group of ${applier}, mode 0644
  then runs nothing
  then has no probe

site (${source}), applied by ${applier}
  delivery: installed, serial ${pair?.leaf.serial ?? ''}, valid until 2036-01-02T03:04:05Z
  key type: rsa-3072
  writes ${root}/site.pem: cert, key; owner ${applier}, group of ${applier}, mode 0600, a secret
  writes ${root}/site.p12: PKCS#12 with the password in ${root}/password; owner ${applier}, group of ${applier}, mode 0400, a secret
  then runs systemctl reload "my service"
  then expects the new serial from [::1]:5432 (postgres)
`,
          stderr: '',
        },
      )
      assert.deepEqual((await readdir(root)).sort(), ['data', 'etc', 'password'])
    }))

  test('[WRD-12] has Portuguese labels when the settings file says so', () =>
    withHost(async ({ root, put, check }) => {
      await put('ca.toml', `name = "ca"\n[[file]]\npath = "${root}/ca.pem"\ncontent = ["ca"]\n`)
      const settings = join(root, 'svc-agent.env')
      await writeFile(settings, 'SVC_LANG=pt\n', { mode: 0o644 })
      const { stdout } = await check('--config', settings)
      assert.match(stdout, /^ {2}entrega: not installed yet\n {2}tipo da chave: ec-p256$/m)
    }))

  test('[TGT-9] exits with 1 and says `file:line: reason` for everything that is wrong', () =>
    withHost(async ({ root, put, check }) => {
      const bad = await put(
        'bad.toml',
        'nome = "a"\ncolour = 1\n[[file]]\npath = "x"\ncontent = ["cert"]\n',
      )
      const place = await put(
        'place.toml',
        `nome = "b"\n\n[[file]]\npath = "/tmp/b.pem"\ncontent = ["cert"]\nowner = "${ownUid}"\n`,
      )
      const { status, stdout, stderr } = await check()
      assert.equal(status, 1)
      assert.match(stdout, /^b \(/)
      assert.equal(
        stderr,
        `${bad}:2: unknown key "colour"
${bad}:4: path must be absolute: "x"
${place}:3: the directory /tmp is writable by group or others
`,
      )
      const json = await check('--json')
      assert.equal(json.status, 1)
      assert.equal(json.stderr, '')
      assert.deepEqual(JSON.parse(json.stdout), {
        ok: false,
        targets_dir: join(root, 'etc'),
        targets: [
          {
            nome: 'b',
            source: place,
            applied_by: ownUid,
            key_type: 'ec-p256',
            delivery: { state: 'missing', serial: null, not_after: null, versao: null },
            new_directories: [],
            files: [
              {
                path: '/tmp/b.pem',
                content: ['cert'],
                format: 'pem',
                password_file: null,
                owner: `${ownUid}`,
                group: null,
                mode: '0644',
              },
            ],
            reload: null,
            probe: null,
            probe_name: null,
            probe_protocol: null,
          },
        ],
        problems: [
          { source: bad, line: 2, reason: 'unknown key "colour"' },
          { source: bad, line: 4, reason: 'path must be absolute: "x"' },
          { source: place, line: 3, reason: 'the directory /tmp is writable by group or others' },
        ],
      })
    }))

  test(
    '[TGT-9] started by root, root’s targets are checked as root, and the agent’s as the agent',
    { skip: needsRoot },
    () =>
      withHost(async ({ root, dataDir, targetsDir, put, check }) => {
        await chown(dataDir, AGENT, AGENT)
        await chown(join(dataDir, 'out'), AGENT, AGENT)
        // A place that the agent's user could not even look at.
        await mkdir(join(root, 'private'), { mode: 0o700 })
        const source = await put(
          'site.toml',
          `nome = "site"\n[[file]]\npath = "${root}/private/site.pem"\ncontent = ["key"]\nowner = "5000"\n`,
        )
        const roots = await check()
        assert.deepEqual([roots.status, roots.stderr], [0, ''])
        assert.match(roots.stdout, /applied by root\n/)
        await chown(targetsDir, AGENT, AGENT)
        await chown(root, AGENT, AGENT)
        const agents = await check()
        assert.equal(agents.status, 1)
        assert.match(agents.stdout, new RegExp(`applied by user ${AGENT}\n`))
        assert.equal(agents.stderr, `${source}:2: only root can give a file to user 5000\n`)
      }),
  )
})
