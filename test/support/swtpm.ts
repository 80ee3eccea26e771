// A simulated TPM 2.0 (swtpm), with a certificate of a maker that was made up for it.

import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pathOfTool, TOOL_PATH, withTools } from './tools.ts'

export const WITH_TPM: { readonly skip: string | false } = withTools(
  'swtpm',
  'swtpm_setup',
  'swtpm_localca',
  'certtool',
  'tpm2_createek',
)

export interface SimulatedTpm extends AsyncDisposable {
  /** For what speaks with it: PATH and TPM2TOOLS_TCTI. */
  readonly env: Readonly<Record<'PATH' | 'TPM2TOOLS_TCTI', string>>
  /** The maker's intermediate, then the maker's root, PEM. */
  readonly makerPem: string
}

const run = promisify(execFile)
const PLATFORM = '--platform-manufacturer Test --platform-version 1 --platform-model Test\n'

export async function startTpm(): Promise<SimulatedTpm> {
  const directory = await mkdtemp(join(tmpdir(), 'swtpm-'))
  const at = (name: string): string => join(directory, name)
  await mkdir(at('ca'))
  await mkdir(at('state'))
  await writeFile(
    at('ca.conf'),
    `statedir = ${at('ca')}\nsigningkey = ${at('ca/key.pem')}\nissuercert = ${at('ca/issuer.pem')}\ncertserial = ${at('ca/serial')}\n`,
  )
  await writeFile(at('ca.options'), PLATFORM.replaceAll(' --', '\n--'))
  await writeFile(
    at('setup.conf'),
    `create_certs_tool=${pathOfTool('swtpm_localca')}\ncreate_certs_tool_config=${at('ca.conf')}\ncreate_certs_tool_options=${at('ca.options')}\n`,
  )
  const env = { PATH: TOOL_PATH, TPM2TOOLS_TCTI: `swtpm:path=${at('socket')}` }
  const what = ['--tpm2', '--tpmstate', at('state'), '--create-ek-cert', '--pcr-banks', 'sha256']
  await run(pathOfTool('swtpm_setup'), [...what, '--config', at('setup.conf')], { env })
  const where = ['--server', `type=unixio,path=${at('socket')}`]
  const control = ['--ctrl', `type=unixio,path=${at('socket')}.ctrl`]
  const tpm = spawn(
    pathOfTool('swtpm'),
    [
      'socket',
      '--tpm2',
      '--tpmstate',
      `dir=${at('state')}`,
      ...where,
      ...control,
      '--flags',
      'startup-clear',
    ],
    { env, stdio: 'ignore' },
  )
  const ended = new Promise<void>((resolve) => {
    tpm.once('close', () => resolve())
  })
  const dispose = async (): Promise<void> => {
    tpm.kill()
    await ended
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await untilItAnswers(env)
    const makerPem =
      (await readFile(at('ca/issuer.pem'), 'utf8')) +
      (await readFile(at('ca/swtpm-localca-rootca-cert.pem'), 'utf8'))
    return { env, makerPem, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

const ANSWER_MS = 10_000

async function untilItAnswers(env: NodeJS.ProcessEnv): Promise<void> {
  const deadline = Date.now() + ANSWER_MS
  for (;;) {
    try {
      await run(pathOfTool('tpm2_getcap'), ['properties-fixed'], { env })
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
