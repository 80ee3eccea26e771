// The CLI alone: one executable that works through a hub elsewhere, as a package and as an archive.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { buildCliExecutable } from '../../tools/build/cli-executable.ts'
import { writeCliArchive } from '../../tools/release/cli-archive.ts'
import { makeCliPackage } from '../../tools/release/make-packages.ts'
import { runTool } from '../support/processes.ts'
import { withTools } from '../support/tools.ts'

const VERSION = '1.2.3'

describe('the CLI alone', withTools('dpkg-deb'), () => {
  let directory = ''
  let programs = ''

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cli-alone-'))
    programs = join(directory, 'programs')
    await mkdir(programs)
    const settings = { version: VERSION, releasePublicKey: undefined }
    await buildCliExecutable(join(programs, 'svc'), settings)
  })
  after(() => rm(directory, { recursive: true, force: true }))

  const svc = (path: string, ...args: string[]) =>
    spawnSync(path, args, { cwd: '/', env: {}, encoding: 'utf8', timeout: 60_000 })

  const releaseIn = async (name: string) => {
    const outputDirectory = join(directory, name)
    await mkdir(outputDirectory)
    const releasedAt = new Date('2026-01-02T03:04:05Z')
    return { programs, version: VERSION, releasedAt, outputDirectory }
  }

  test('is one file of a package that gives way to the hub’s', async () => {
    const path = await makeCliPackage(await releaseIn('package'))
    assert.match(basename(path), /^svc_1\.2\.3_(amd64|arm64)\.deb$/)
    assert.match(await runTool('dpkg-deb', ['--field', path]), /^Conflicts: svc-server$/m)
    const listed = await runTool('dpkg-deb', ['--contents', path])
    const files = listed.match(/\S+(?<!\/)$/gm)?.filter((name) => !name.includes('/share/'))
    assert.deepEqual(files, ['./usr/bin/svc'])
    assert.match(listed, / \.\/usr\/share\/man\/man1\/svc\.1\.gz$/m)
    await runTool('dpkg-deb', ['--extract', path, join(directory, 'installed')])
    const { stdout } = svc(join(directory, 'installed/usr/bin/svc'), '--version')
    assert.equal(stdout, '1.2.3\n')
  })

  test('is one file of an archive, the same bytes each time', async () => {
    const [first, second] = [
      await writeCliArchive(await releaseIn('first')),
      await writeCliArchive(await releaseIn('second')),
    ]
    assert.match(basename(first), /^svc_1\.2\.3_linux-(x64|arm64)\.tar\.gz$/)
    assert.ok((await readFile(first)).equals(await readFile(second)))
    assert.match(await runTool('tar', ['-tvzf', first]), /^-rwxr-xr-x 0\/0 .* svc\n$/)
  })

  test('says that it has no vault, and asks the hub that it is given', async () => {
    const svcAlone = join(programs, 'svc')
    const without = svc(svcAlone, 'token', 'list')
    assert.deepEqual(
      [without.status, without.stderr],
      [
        1,
        'svc: error: this svc is installed without a hub, and works through one\n' +
          'svc: hint: name it with --hub https://hub.example.org:8445 (SVC_HUB), after svc login or with --token-file\n',
      ],
    )
    assert.equal(svc(svcAlone, 'unseal').stderr, without.stderr)
    const tokenFile = join(directory, 'token')
    await writeFile(tokenFile, `svca_${'A'.repeat(43)}\n`, { mode: 0o600 })
    const hub = ['--hub', 'https://127.0.0.1:1', '--token-file', tokenFile]
    assert.match(
      svc(svcAlone, ...hub, 'token', 'list').stderr,
      /^svc: error: cannot reach https:\/\/127\.0\.0\.1:1: /,
    )
  })
})
