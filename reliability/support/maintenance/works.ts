// The commands that change a vault as a whole, or make another one: how each is run, what has to be so whenever it was stopped, and that it
// can be run again.

import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { errnoCode } from '../../../src/platform/errors.ts'
import { PASSPHRASE } from '../../../test/support/hub.ts'
import { type Ended, runProgram, type Variables } from '../../../test/support/processes.ts'
import {
  copyVault,
  digestOf,
  environmentOf,
  type Places,
  type PreparedVaults,
} from './prepared-vaults.ts'

export interface Work {
  readonly name: string
  /** Which process is killed; the other one goes on. */
  readonly victim: 'svc' | 'hub'
  /** A hub runs meanwhile. */
  readonly isBesideHub: boolean
  /** A new try of its own. */
  prepare(root: string): Promise<Try>
}

export interface Try {
  readonly places: Places
  readonly args: readonly string[]
  readonly environment: Variables
  /** What is not as it has to be, whenever the command was stopped. */
  inspect(): Promise<string[]>
  /** Runs the command once more, and says what is not as it has to be then. */
  again(): Promise<string[]>
}

const NEW_PASSPHRASE = 'another horse, another battery'

export function allWorks(prepared: PreparedVaults): Work[] {
  return [
    { name: 'backup', victim: 'svc', isBesideHub: false, prepare: backup },
    { name: 'backup beside a hub', victim: 'svc', isBesideHub: true, prepare: backup },
    { name: 'hub in a backup', victim: 'hub', isBesideHub: true, prepare: backup },
    { name: 'restore', victim: 'svc', isBesideHub: false, prepare: restore },
    { name: 'archive', victim: 'svc', isBesideHub: false, prepare: archive },
    { name: 'hub in an archive', victim: 'hub', isBesideHub: true, prepare: archive },
    { name: 'compact', victim: 'svc', isBesideHub: false, prepare: compact },
    { name: 'rekey', victim: 'svc', isBesideHub: false, prepare: rekey },
    { name: 'passphrase change', victim: 'svc', isBesideHub: false, prepare: changePassphrase },
  ]

  /** The vault is whole, with this passphrase. */
  async function faultsOf(place: Places, passphrase = PASSPHRASE): Promise<string[]> {
    const digest = await digestOf(place, passphrase)
    return digest === prepared.digest ? [] : ['the log is not what it was']
  }

  async function backup(root: string): Promise<Try> {
    const places = await copyVault(prepared.fresh, root)
    const environment = environmentOf(places, prepared.caEnvironment)
    const args = ['backup', places.backup]
    const verify = async (): Promise<string[]> =>
      failuresOf(await runProgram('svc', ['backup', 'verify', places.backup], environment))
    return {
      places,
      args,
      environment,
      // A file that has the name is whole.
      inspect: async () => ((await isThere(places.backup)) ? verify() : []),
      again: async () => {
        const more = (await isThere(places.backup)) ? ['--replace'] : []
        const failures = failuresOf(await runProgram('svc', [...args, ...more], environment))
        return [...failures, ...(await verify()), ...(await faultsOf(places))]
      },
    }
  }

  async function restore(root: string): Promise<Try> {
    const places = await copyVault(prepared.archived, root)
    const made = { ...places, vault: places.other }
    const environment = environmentOf(made, prepared.caEnvironment)
    const args = ['restore', places.backup]
    const before = await readFile(places.backup)
    const isMade = (): Promise<boolean> => isThere(`${made.vault}/config.json`)
    return {
      places,
      args,
      environment,
      inspect: async () => ((await isMade()) ? faultsOf(made) : []),
      again: async () => {
        const wasMade = await isMade()
        const failures = expected(
          await runProgram('svc', args, environment),
          wasMade ? /there is a vault at/ : undefined,
        )
        const isSame = before.equals(await readFile(places.backup))
        return [
          ...failures,
          ...(isSame ? [] : ['the backup was changed']),
          ...(await faultsOf(made)),
        ]
      },
    }
  }

  async function archive(root: string): Promise<Try> {
    const places = await copyVault(prepared.fresh, root)
    const environment = environmentOf(places, prepared.caEnvironment)
    const args = ['evento', 'archive', '--before', '30d']
    return {
      places,
      args,
      environment,
      inspect: () => faultsOf(places),
      again: async () => {
        const failures = failuresOf(await runProgram('svc', args, environment))
        return [...failures, ...(await faultsOf(places))]
      },
    }
  }

  async function compact(root: string): Promise<Try> {
    const places = await copyVault(prepared.archived, root)
    const environment = environmentOf(places, prepared.caEnvironment)
    const args = ['vault', 'compact']
    return {
      places,
      args,
      environment,
      inspect: () => faultsOf(places),
      again: async () => {
        const failures = failuresOf(await runProgram('svc', args, environment))
        const isLeft = await isThere(`${places.vault}/db.enc.compact`)
        return [
          ...failures,
          ...(isLeft ? ['db.enc.compact is left'] : []),
          ...(await faultsOf(places)),
        ]
      },
    }
  }

  async function rekey(root: string): Promise<Try> {
    const places = await copyVault(prepared.archived, root)
    const environment = environmentOf(places, prepared.caEnvironment)
    const args = ['vault', 'rekey', '--to', places.other]
    const made = { ...places, vault: places.other }
    const isMade = (): Promise<boolean> => isThere(`${made.vault}/config.json`)
    return {
      places,
      args,
      environment,
      inspect: async () => ((await isMade()) ? faultsOf(made) : []),
      again: async () => {
        const wasMade = await isMade()
        const failures = expected(
          await runProgram('svc', args, environment),
          wasMade ? /there is a vault at|rekey/ : undefined,
        )
        // The old vault was set aside; one rename brings it back.
        const aside = `${places.vault}/config.json.rekeyed`
        if (await isThere(aside)) await rename(aside, `${places.vault}/config.json`)
        return [...failures, ...(await faultsOf(made)), ...(await faultsOf(places))]
      },
    }
  }

  async function changePassphrase(root: string): Promise<Try> {
    const places = await copyVault(prepared.archived, root)
    const environment = environmentOf(places, prepared.caEnvironment)
    const file = `${root}/new-passphrase`
    const args = ['passphrase', 'change', '--new-passphrase-file', file]
    await writeFile(file, `${NEW_PASSPHRASE}\n`, { mode: 0o600 })
    const opensWith = async (passphrase: string): Promise<boolean> => {
      const variables = { ...environment, SVC_MASTER_PASSPHRASE: passphrase }
      return (await runProgram('svc', ['unseal'], variables)).status === 0
    }
    return {
      places,
      args,
      environment,
      inspect: async () => {
        const [old, changed] = [await opensWith(PASSPHRASE), await opensWith(NEW_PASSPHRASE)]
        return old === changed ? [`opens with ${old ? 'both' : 'neither'} of the passphrases`] : []
      },
      again: async () => {
        const isChanged = await opensWith(NEW_PASSPHRASE)
        const failures = expected(
          await runProgram('svc', args, environment),
          isChanged ? /passphrase/ : undefined,
        )
        return [...failures, ...(await faultsOf(places, NEW_PASSPHRASE))]
      },
    }
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return false
    throw error
  }
}

function failuresOf(ended: Ended): string[] {
  return expected(ended, undefined)
}

/** That it succeeds; or, when it had come to its end before, that it refuses and says so. */
function expected({ status, signal, stderr }: Ended, refusal: RegExp | undefined): string[] {
  const isExpected = refusal === undefined ? status === 0 : status === 1 && refusal.test(stderr)
  return isExpected ? [] : [`run again, it ended with ${signal ?? status}: ${stderr}`]
}
