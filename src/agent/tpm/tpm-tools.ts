// The commands of tpm2-tools: the agent speaks with a TPM by them, so no library of its own knows the chip. What they leave to each
// other, saved contexts and answers, is in files of a directory that only this user can read.

import { execFile, type ExecFileException } from 'node:child_process'
import { constants } from 'node:fs'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errnoCode, UserError } from '../../platform/errors.ts'
import { printableExtract } from '../../platform/printable.ts'
import { removeOnSignal } from '../../platform/remove-on-signal.ts'

export interface TpmTools {
  /** The files of this directory are what commands name; none is there twice. */
  readonly directory: string
  run(tool: string, ...args: readonly string[]): Promise<void>
}

/** Through the kernel's resource manager, which keeps what two programs have in the TPM apart. */
const DEVICE = '/dev/tpmrm0'
/** A discrete TPM may take half a minute to make an RSA key. */
const TIMEOUT_MS = 120_000
const OUTPUT_BYTES_MAX = 65_536
const SAID_CHARACTERS_MAX = 200

/** Where programs of the system are, also for a service whose PATH is short. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** With the tools in a directory of its own, which is gone afterwards. */
export async function withTpmTools<T>(
  env: Readonly<Record<string, string | undefined>>,
  work: (tools: TpmTools) => Promise<T>,
): Promise<T> {
  const tcti = env['TPM2TOOLS_TCTI'] ?? (await deviceTcti())
  const directory = await mkdtemp(join(tmpdir(), 'svc-agent-tpm-'))
  const path = [env['PATH'], SYSTEM_PATH].filter((each) => each !== undefined && each !== '')
  // Nothing else of the agent's environment: there may be a token in it.
  const run = createRun(directory, { PATH: path.join(':'), TPM2TOOLS_TCTI: tcti, LC_ALL: 'C' })
  const tools: TpmTools = {
    directory,
    async run(tool, ...args) {
      await run(tool, args)
      // Without a resource manager, as in a simulated TPM, what a command loaded stays there, and there is room for three.
      await run('tpm2_flushcontext', ['-t'])
    },
  }
  try {
    return await removeOnSignal(directory, () => work(tools))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function deviceTcti(): Promise<string> {
  try {
    await access(DEVICE, constants.R_OK | constants.W_OK)
    return `device:${DEVICE}`
  } catch (error) {
    if (errnoCode(error) === 'EACCES') {
      throw new UserError('tpm_not_allowed', `this user may not use the TPM (${DEVICE})`, {
        hint: 'add it to the group of the device, such as: usermod -aG tss svc-agent',
      })
    }
    throw new UserError('tpm_not_found', `this machine has no TPM 2.0 (${DEVICE} is not there)`, {
      hint: 'is it on in the firmware? TPM2TOOLS_TCTI names another way to one',
    })
  }
}

function createRun(
  cwd: string,
  env: Readonly<Record<string, string>>,
): (tool: string, args: readonly string[]) => Promise<void> {
  const options = {
    cwd,
    env,
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: OUTPUT_BYTES_MAX,
  } as const
  return (tool, args) =>
    new Promise((resolve, reject) => {
      execFile(tool, args, options, (error, _stdout, stderr) => {
        if (error === null) resolve()
        else reject(describeFailure(tool, error, stderr))
      })
    })
}

function describeFailure(tool: string, error: ExecFileException, stderr: string): UserError {
  if (error.code === 'ENOENT') {
    return new UserError('tpm_tools_missing', `${tool} is not installed`, {
      hint: 'install the package tpm2-tools',
    })
  }
  if (error.killed === true) return new UserError('tpm_failed', `${tool} does not end`)
  // The first line says what the TPM said; those after it, which command of the library passed it on.
  const said = stderr.split('\n').find((line) => line.startsWith('ERROR'))
  const why = said ?? `it ended with ${error.code ?? error.signal}`
  return new UserError('tpm_failed', `${tool}: ${printableExtract(why, SAID_CHARACTERS_MAX)}`)
}
