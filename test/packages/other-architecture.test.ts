// What a release has for the other architecture, made on this one and run here by an emulator: the hub of the package makes a vault, and
// the agent of the package enrols at a hub of this architecture.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { architectureOf } from '../../src/agent/update/program-architecture.ts'
import {
  type Architecture,
  ARCHITECTURES,
  DEBIAN_NAMES,
  GNU_NAMES,
} from '../../tools/build/architecture.ts'
import { foreignRunner } from '../../tools/build/foreign-system.ts'
import { pinnedNode, strippedNode } from '../../tools/build/runtime.ts'
import { makeForeignPrograms } from '../../tools/release/foreign-programs.ts'
import { makePackages } from '../../tools/release/make-packages.ts'
import { waitForEvent } from '../support/audit-log.ts'
import { startDevCa } from '../support/dev-ca.ts'
import { startHubProcess } from '../support/hub-process.ts'
import { enrolHost } from '../support/managed-host.ts'
import { runTool, waitUntil } from '../support/processes.ts'
import { TOOL_PATH, withTools } from '../support/tools.ts'
import { buildPrograms } from './support/built-packages.ts'

const VERSION = '0.5.0'
const FOREIGN: Architecture = ARCHITECTURES.find((name) => name !== process.arch) ?? 'arm64'
const TOOLS = ['dpkg-deb', 'mmdebstrap', `qemu-${GNU_NAMES[FOREIGN]}-static`]
const COMMAND_MS_MAX = 2 * 60_000
// The first time Node and the libraries are fetched too.
const TIMEOUT = { timeout: 10 * 60_000 }

describe(
  `a release for ${FOREIGN}, made on ${process.arch}`,
  { ...withTools(...TOOLS), ...TIMEOUT },
  () => {
    let directory: string
    let installed: string
    let packages: string[]
    let runner: readonly string[]

    const setUp = async (): Promise<void> => {
      directory = await mkdtemp(join(tmpdir(), 'foreign-'))
      await chmod(directory, 0o755)
      const native = await buildPrograms(VERSION)
      const programs = join(directory, FOREIGN)
      const settings = { version: VERSION, releasePublicKey: undefined }
      await makeForeignPrograms(programs, { native, architecture: FOREIGN, settings })
      const made = {
        programs,
        node: strippedNode(FOREIGN),
        native: { programs: native, node: pinnedNode() },
        architecture: FOREIGN,
        version: VERSION,
        releasedAt: new Date('2026-01-01T00:00:00Z'),
        outputDirectory: directory,
      }
      packages = await makePackages(made)
      installed = join(directory, 'installed')
      await mkdir(installed)
      for (const path of packages) await runTool('dpkg-deb', ['--extract', path, installed])
      runner = (await foreignRunner(FOREIGN)) ?? []
    }
    before(setUp, TIMEOUT)
    after(() => rm(directory, { recursive: true, force: true }))

    /** With nothing in the environment but that. */
    const run = (variables: Record<string, string>, ...command: string[]): string => {
      const [program = '', ...args] = [...runner, ...command]
      return execFileSync(program, args, {
        cwd: '/',
        env: { PATH: TOOL_PATH, ...variables },
        encoding: 'utf8',
        timeout: COMMAND_MS_MAX,
        killSignal: 'SIGKILL',
      })
    }

    test('[UPD-22] has nothing of this architecture in its packages', async () => {
      const name = DEBIAN_NAMES[FOREIGN]
      assert.deepEqual(
        packages.map((path) => basename(path)),
        [`svc-agent_${VERSION}_${name}.deb`, `svc-server_${VERSION}_${name}.deb`],
      )
      for (const path of packages) {
        assert.equal(await runTool('dpkg-deb', ['--field', path, 'Architecture']), `${name}\n`)
      }
      for (const path of [
        'usr/bin/svc-agent',
        'usr/lib/svc-server/node',
        'usr/lib/svc-server/better-sqlite3.node',
      ]) {
        assert.equal(architectureOf(await readFile(join(installed, path))), FOREIGN, path)
      }
      const licences = join(installed, 'usr/share/doc/svc-agent/third-party-licences.gz')
      const text = await runTool('gzip', ['-dc', licences])
      assert.match(text, new RegExp(`^node_modules/node-linux-${FOREIGN} 24\\.`, 'm'))
      assert.doesNotMatch(text, new RegExp(`^node_modules/node-linux-${process.arch} `, 'm'))
    })

    test('says its version', () => {
      assert.equal(run({}, join(installed, 'usr/bin/svc-agent'), '--version'), '0.5.0\n')
      assert.equal(run({}, join(directory, FOREIGN, 'svc'), '--version'), '0.5.0\n')
    })

    test('has a hub that makes a vault', async () => {
      const place = join(directory, 'hub')
      await mkdir(place, { mode: 0o700 })
      const passphrase = join(place, 'passphrase')
      await writeFile(passphrase, 'correct horse battery staple\n', { mode: 0o600 })
      const variables = {
        SVC_VAULT_ROOT: join(place, 'vault'),
        SVC_MASTER_PASSPHRASE_FILE: passphrase,
      }
      const hub = join(installed, 'usr/lib/svc-server')
      run(variables, join(hub, 'node'), join(hub, 'svc.cjs'), 'init')
      const { size } = await stat(join(variables.SVC_VAULT_ROOT, 'db.enc'))
      assert.ok(size > 0)
    })

    test('has an agent that enrols at a hub of this architecture, and installs what it is given', async () => {
      const programs = join(directory, 'emulated')
      await mkdir(programs)
      const command = [...runner, join(installed, 'usr/bin/svc-agent')].join(' ')
      await writeFile(join(programs, 'svc-agent'), `#!/bin/sh\nexec ${command} "$@"\n`, {
        mode: 0o755,
      })
      await using ca = await startDevCa({})
      await using hub = await startHubProcess({
        caEnvironment: ca.environment,
        environment: { SVC_SERVER_CN: 'localhost' },
      })
      await using host = await enrolHost(hub, 'web-01', {}, programs)
      host.run()
      await hub.admin('POST', '/v1/admin/cargas', {
        tipo: 'csr_cert',
        nome: 'site',
        agentes: [host.hostname],
        roles: [],
        sans: [],
      })
      await waitForEvent(hub, 'entrega_instalada', host)
      const crt = join(host.dataDir, 'out/site.crt')
      const ofCertificate = await runTool('openssl', ['x509', '-in', crt, '-noout', '-pubkey'])
      const key = join(host.dataDir, 'out/site.key')
      assert.equal(await runTool('openssl', ['pkey', '-in', key, '-pubout']), ofCertificate)
      const [hookLine] = await waitUntil('the hook', async () => {
        const lines = await host.hookLines()
        return lines.length > 0 ? lines : undefined
      })
      assert.match(hookLine ?? '', /^installed site /)
    })
  },
)
