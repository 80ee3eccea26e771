// A machine that builds images and runs containers, with storage and hosts of its own, and no network but loopback. Nothing is left of it when it is disposed of, or when the
// test dies. Only root can have one.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProgram, waitUntil } from '../../support/processes.ts'
import { type ShellMachine, shellMachine } from '../../support/shell-machine.ts'
import { pathOfTool, TOOL_PATH, withTools } from '../../support/tools.ts'
import { ensureBaseImage } from './base-image.ts'

export interface ContainerMachine extends ShellMachine, AsyncDisposable {
  /** Where scripts start; it is gone with the machine. */
  readonly directory: string
}

export interface ImagesToBuild {
  readonly containerfile: string
  /** What the Containerfile finds beside it. */
  readonly context: string
  /** Of each stage that is handed out. */
  readonly images: Readonly<Record<string, string>>
}

const SET_UP = fileURLToPath(new URL('./container-machine.sh', import.meta.url))
const BASE = 'docker.io/library/debian:12-slim'
// The stage that both have is made once.
const BUILD =
  'buildah build --isolation chroot --network host --pull-never --layers --format docker'
const NAMESPACES = ['--mount', '--propagation=private', '--pid', '--net', '--fork', '--kill-child']
const ENTER = ['--mount', '--pid', '--root', '--wd']

// On a file system of the machine's own, in memory: the images take half a gigabyte.
const STORAGE = `\
[storage]
driver = "overlay"
graphroot = "/var/lib/containers/storage"
runroot = "/run/containers/storage"
`
// crun cannot raise a limit that this machine's root may not raise.
const CONTAINERS = `\
[containers]
default_ulimits = ["nofile=1024:4096", "nproc=4096:4096"]
log_driver = "k8s-file"
cgroups = "disabled"
netns = "host"
[engine]
runtime = "crun"
events_logger = "file"
cgroup_manager = "cgroupfs"
`

/** For `describe`: skips, in words, where there can be no such machine; with CI=true it fails instead. */
export function withContainers(): { readonly skip: string | false } {
  if (process.env['CI'] === 'true') return { skip: false }
  if (process.getuid?.() !== 0) return { skip: 'only root can run these containers' }
  return withTools('podman', 'buildah', 'crun', 'mmdebstrap', 'unshare', 'nsenter', 'ip')
}

export async function startContainerMachine(build: ImagesToBuild): Promise<ContainerMachine> {
  const baseImage = await ensureBaseImage()
  const directory = await mkdtemp(join(tmpdir(), 'containers-'))
  await writeFile(join(directory, 'storage.conf'), STORAGE)
  await writeFile(join(directory, 'containers.conf'), CONTAINERS)
  const first = spawn(pathOfTool('unshare'), [...NAMESPACES, 'bash', SET_UP, directory], {
    env: { PATH: TOOL_PATH },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const dispose = async (): Promise<void> => {
    first.stdin.end()
    await waitUntil(
      'the machine to be gone',
      () => first.exitCode !== null || first.signalCode !== null || undefined,
    )
    await rm(directory, { recursive: true, force: true })
  }
  try {
    const pid = await readProcessId(first)
    // For Debian's packages, with the network of the machine that this is.
    await shellIn(directory, pid, ENTER).output(buildScript(baseImage, build))
    return {
      directory,
      ...shellIn(directory, pid, [...ENTER, '--net']),
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

function buildScript(baseImage: string, { containerfile, context, images }: ImagesToBuild): string {
  const builds = Object.entries(images).map(
    ([target, name]) =>
      `${BUILD} --target ${target} --tag ${name} --file ${containerfile} ${context}`,
  )
  return `
container=$(buildah from scratch)
buildah add --quiet "$container" ${baseImage} / >/dev/null
buildah commit --quiet "$container" ${BASE}
buildah rm "$container"
${builds.join('\n')}`
}

async function readProcessId(first: ChildProcess): Promise<string> {
  let printed = ''
  first.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  first.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  return waitUntil('the machine to be set up', () => {
    if (first.exitCode !== null) throw new Error(`the machine could not be set up: ${printed}`)
    return /^(\d+)\n/.exec(printed)?.[1]
  })
}

function shellIn(directory: string, pid: string, enter: readonly string[]): ShellMachine {
  const environment = ['env', '-i', ...variablesOf(directory), 'sh', '-euc']
  return shellMachine((script) => {
    const inPlace = `cd ${directory}\n${script}`
    const args = ['--target', pid, ...enter, ...environment, inPlace]
    return startProgram(pathOfTool('nsenter'), args, {})
  })
}

function variablesOf(directory: string): string[] {
  return [
    `PATH=${TOOL_PATH}`,
    'HOME=/root',
    `TMPDIR=${directory}`,
    `CONTAINERS_CONF=${directory}/containers.conf`,
    `CONTAINERS_STORAGE_CONF=${directory}/storage.conf`,
  ]
}
