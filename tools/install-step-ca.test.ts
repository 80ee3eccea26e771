// The installer with a Go that only pretends to build.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const INSTALLER = fileURLToPath(new URL('install-step-ca.ts', import.meta.url))

const PRETENDED_GO = `#!/bin/sh
[ "$1" = version ] && exit 0
echo "$@" "CGO_ENABLED=$CGO_ENABLED" >> "$BUILD_LOG"
[ -n "$BUILD_FAILS" ] && { echo half > "$GOBIN/step-ca"; exit 1; }
sleep 0.2
echo built > "$GOBIN/step-ca"
`

interface Outcome {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

describe('installing step-ca', () => {
  let directory = ''
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'install-step-ca-'))
    await mkdir(join(directory, 'bin'))
    await writeFile(join(directory, 'bin', 'go'), PRETENDED_GO, { mode: 0o755 })
  })
  after(() => rm(directory, { recursive: true, force: true }))

  const install = async (
    cache: string,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> => {
    const env = {
      PATH: `${join(directory, 'bin')}:/usr/bin:/bin`,
      XDG_CACHE_HOME: join(directory, cache),
      BUILD_LOG: join(directory, `${cache}.log`),
      ...environment,
    }
    const child = spawn(process.execPath, [INSTALLER], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = once(child, 'exit') as Promise<[number]>
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      ended,
    ])
    return { status, stdout, stderr }
  }
  const filesIn = (cache: string): Promise<string[]> => readdir(join(directory, cache, 'cartorio'))

  test('builds it once when two ask at once, and not again', async () => {
    const path = join(directory, 'two', 'cartorio', 'step-ca-v0.30.2', 'step-ca')
    const outcomes = [
      ...(await Promise.all([install('two'), install('two')])),
      await install('two'),
    ]
    for (const { status, stdout } of outcomes)
      assert.deepEqual({ status, stdout }, { status: 0, stdout: `${path}\n` })
    assert.equal(await readFile(path, 'utf8'), 'built\n')
    assert.equal(
      await readFile(join(directory, 'two.log'), 'utf8'),
      'install github.com/smallstep/certificates/cmd/step-ca@v0.30.2 CGO_ENABLED=0\n',
    )
  })

  test('leaves nothing behind when the build fails', async () => {
    const { status, stderr } = await install('fails', { BUILD_FAILS: '1' })
    assert.equal(status, 1)
    assert.match(stderr, /^install-step-ca: error: go install .* failed$/m)
    assert.deepEqual(await filesIn('fails'), ['step-ca-v0.30.2.lock'])
  })

  test('says so when there is no Go', async () => {
    const { status, stderr } = await install('none', { PATH: join(directory, 'nothing') })
    assert.equal(status, 1)
    assert.equal(stderr, 'install-step-ca: error: there is no Go to build step-ca with\n')
  })

  test('insists on it under CI=true', async () => {
    const { status, stderr } = await install('ci', { PATH: join(directory, 'nothing'), CI: 'true' })
    assert.equal(status, 1)
    assert.match(stderr, /step-ca is needed under CI=true/)
  })
})
