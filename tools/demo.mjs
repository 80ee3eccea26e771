// `npm run demo` on a fresh clone: installs what the lockfile names, then runs the demo on the pinned Node.
// This file alone runs on whatever Node (20 or newer) started npm, so it is plain JavaScript without dependencies.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const pinnedNode = join(root, 'node_modules/.bin/node')
const installed = join(root, 'node_modules/.package-lock.json')

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(readFileSync(join(root, 'tools/demo/help.txt'), 'utf8'))
  process.exit()
}
if (!existsSync(pinnedNode) || isOlder(installed, join(root, 'package-lock.json'))) {
  console.log('Installing the dependencies of package-lock.json (npm ci) …')
  const { status } = spawnSync('npm', ['ci'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
if (!existsSync(pinnedNode)) {
  console.error(`demo: error: there is no pinned Node for ${process.platform} ${process.arch}`)
  console.error(
    'demo: hint: Linux on x64 or arm64 is supported, and npm must not omit optional dependencies',
  )
  process.exit(1)
}

const demo = join(root, 'tools/demo/demo.ts')
const { status } = spawnSync(pinnedNode, [demo, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
process.exit(status ?? 1)

function isOlder(path, than) {
  return !existsSync(path) || statSync(path).mtimeMs < statSync(than).mtimeMs
}
