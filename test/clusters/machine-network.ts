// A network of machines, in a machine of its own: so nothing of it is left when that is gone. This machine has an address in it too.

import { networkInterfaces } from 'node:os'
import { runTool } from '../support/processes.ts'
import { Machine } from './machine.ts'

/** Of this machine; the others count from 1. */
const OWN_NUMBER = 254
const UPLINK = 'uplink'

export class MachineNetwork {
  /** `10.213.7.`, for example. */
  readonly prefix: string
  readonly #hub: Machine

  private constructor(prefix: string, hub: Machine) {
    this.prefix = prefix
    this.#hub = hub
  }

  static async start(): Promise<MachineNetwork> {
    const hub = await Machine.start()
    try {
      await hub.run('ip', 'link', 'add', 'between', 'type', 'bridge')
      await hub.run('ip', 'link', 'set', 'between', 'up')
      const number = findFreeNumber()
      const network = new MachineNetwork(`10.213.${number}.`, hub)
      const own = `cartorio${number}`
      const up = [UPLINK, 'netns', String(hub.pid)]
      await runTool('ip', ['link', 'add', own, 'type', 'veth', 'peer', 'name', ...up])
      await network.#join(UPLINK)
      await runTool('ip', ['address', 'add', `${network.addressOf(OWN_NUMBER)}/24`, 'dev', own])
      await runTool('ip', ['link', 'set', own, 'up'])
      return network
    } catch (error) {
      await hub[Symbol.asyncDispose]()
      throw error
    }
  }

  get ownAddress(): string {
    return this.addressOf(OWN_NUMBER)
  }

  addressOf(number: number): string {
    return `${this.prefix}${number}`
  }

  async connect(machine: Machine, number: number): Promise<void> {
    const port = portOf(number)
    // From here, where both have their numbers.
    const near = [port, 'netns', String(this.#hub.pid)]
    const far = ['eth0', 'netns', String(machine.pid)]
    await runTool('ip', ['link', 'add', ...near, 'type', 'veth', 'peer', 'name', ...far])
    await this.#join(port)
    await machine.run('ip', 'address', 'add', `${this.addressOf(number)}/24`, 'dev', 'eth0')
    await machine.run('ip', 'link', 'set', 'eth0', 'up')
  }

  /** Nothing reaches the machine, and nobody hears of it. */
  async cut(number: number): Promise<void> {
    await this.#hub.run('ip', 'link', 'set', portOf(number), 'down')
  }

  async heal(number: number): Promise<void> {
    await this.#hub.run('ip', 'link', 'set', portOf(number), 'up')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hub[Symbol.asyncDispose]()
  }

  async #join(port: string): Promise<void> {
    await this.#hub.run('ip', 'link', 'set', port, 'master', 'between')
    await this.#hub.run('ip', 'link', 'set', port, 'up')
  }
}

function portOf(number: number): string {
  return `port${number}`
}

/** Another cluster may run beside this one. */
function findFreeNumber(): number {
  const taken = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  for (let number = 1; number < 255; number += 1) {
    if (!taken.some(({ address }) => address.startsWith(`10.213.${number}.`))) return number
  }
  throw new Error('254 clusters run already')
}
