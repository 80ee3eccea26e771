// Loaded before anything of the product: from then on Node's asynchronous files, signatures, randomness and
// `setImmediate` are the kernel's for code that a simulated program runs, and Node's own for all other code.

import crypto, { webcrypto } from 'node:crypto'
import fs from 'node:fs'
import fsPromises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import pg, { Client } from 'pg'
import { systemClock } from '../../../src/platform/clock.ts'
import { DatabaseClient } from './database-client.ts'
import { DiskCalls } from './disk-calls.ts'
import { currentProgram, currentRandom } from './kernel.ts'
import { realFiles } from './real-files.ts'
import type { SimulatedDatabase } from './simulated-database.ts'
import type { SimulatedDisk } from './simulated-disk.ts'

type AnyFunction = (...values: unknown[]) => unknown
type Functions = Record<string, AnyFunction>

/** All that a program of ours does with files; whatever else it tried would be a fault of the simulation. */
const FILE_FUNCTIONS = Object.getOwnPropertyNames(DiskCalls.prototype).filter(
  (name) => name !== 'constructor',
)

// What is patched has the form of the original; Node's types do not let us say so.
interceptFiles(fsPromises as unknown as Functions)
interceptRealSyncs(fs as unknown as Functions)
interceptSignatures(Object.getPrototypeOf(webcrypto.subtle) as Functions)
interceptThreads(crypto as unknown as Functions, ['generateKeyPair', 'sign'])
interceptThreads(zlib as unknown as Functions, ['deflate', 'inflate'])
interceptRandomness(crypto as unknown as Functions)
interceptImmediates(globalThis as unknown as Functions)
interceptTurns(timersPromises as unknown as Functions)
interceptTimeouts(AbortSignal as unknown as Functions)
interceptClock(systemClock as unknown as Functions)
interceptStopwatch(performance as unknown as Functions)
interceptDatabase(pg as unknown as Functions)
syncBuiltinESMExports()

function interceptFiles(functions: Functions): void {
  for (const [name, original] of Object.entries(functions)) {
    if (typeof original !== 'function') continue
    functions[name] = (...values) => {
      const program = currentProgram()
      if (program?.disk === undefined) return original(...values)
      if (program.isReal(String(values[0]))) {
        return (realFiles as unknown as Functions)[name]?.(...values)
      }
      if (!FILE_FUNCTIONS.includes(name)) throw new Error(`the simulated disk has no ${name}`)
      const calls = new DiskCalls(program, program.disk as SimulatedDisk)
      return (calls as unknown as Functions)[name]?.(...values)
    }
  }
}

function interceptRealSyncs(functions: Functions): void {
  const { fsyncSync } = fs
  functions['fsyncSync'] = (descriptor) => {
    fsyncSync(Number(descriptor))
    currentProgram()?.onRealSync?.()
  }
}

function interceptSignatures(subtle: Functions): void {
  for (const name of Object.getOwnPropertyNames(subtle)) {
    const original = Object.getOwnPropertyDescriptor(subtle, name)?.value as unknown
    if (typeof original !== 'function' || name === 'constructor') continue
    const replacement = function (this: unknown, ...values: unknown[]): unknown {
      const work = (): unknown => Reflect.apply(original, this, values)
      return currentProgram()?.step(work) ?? work()
    }
    Object.defineProperty(subtle, name, { value: replacement, writable: true, configurable: true })
  }
}

/** Of what the thread pool does, only the form with a promise: nobody here takes a callback. */
function interceptThreads(functions: Functions, names: readonly string[]): void {
  for (const name of names) {
    const original = functions[name]
    if (original === undefined) throw new Error(`Node has ${name}`)
    const start = promisify(original) as AnyFunction
    functions[name] = Object.assign((...values: unknown[]) => original(...values), {
      [promisify.custom]: (...values: unknown[]) =>
        currentProgram()?.step(() => start(...values)) ?? start(...values),
    })
  }
}

function interceptRandomness(functions: Functions): void {
  const { randomBytes, randomInt, randomUUID } = crypto
  const seededBytes = (length: number): Buffer | undefined => {
    const random = currentRandom()
    return random && Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)))
  }
  functions['randomBytes'] = (length) => seededBytes(Number(length)) ?? randomBytes(Number(length))
  functions['randomInt'] = (...values) => {
    const [max, ...others] = values as [number]
    const random = others.length === 0 ? currentRandom() : undefined
    return random === undefined ? (randomInt as AnyFunction)(...values) : Math.floor(random() * max)
  }
  functions['randomUUID'] = () => {
    const hex = seededBytes(16)?.toString('hex')
    if (hex === undefined) return randomUUID()
    const groups = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`]
    return [...groups, `8${hex.slice(17, 20)}`, hex.slice(20)].join('-')
  }
}

function interceptImmediates(functions: Functions): void {
  const { setImmediate, clearImmediate } = globalThis
  const cancels = new WeakMap<object, () => void>()
  functions['setImmediate'] = (run, ...values) => {
    const program = currentProgram()
    if (program === undefined) return setImmediate(run as AnyFunction, ...values)
    const handle = {}
    cancels.set(handle, program.immediate(run as () => void))
    return handle
  }
  functions['clearImmediate'] = (handle) => {
    const cancel = typeof handle === 'object' && handle !== null ? cancels.get(handle) : undefined
    if (cancel === undefined) clearImmediate(handle as NodeJS.Immediate)
    else cancel()
  }
}

/** Ids of the product have the time in them, and take it from the machine's clock. */
function interceptClock(functions: Functions): void {
  functions['now'] = () => currentProgram()?.clock.now() ?? new Date()
}

function interceptStopwatch(functions: Functions): void {
  const now = performance.now.bind(performance)
  functions['now'] = () => currentProgram()?.readStopwatch() ?? now()
}

function interceptDatabase(functions: Functions): void {
  functions['Client'] = function (...values: unknown[]) {
    const program = currentProgram()
    if (program?.database === undefined) return Reflect.construct(Client, values) as unknown
    return new DatabaseClient(program, program.database as SimulatedDatabase)
  }
}

function interceptTurns(functions: Functions): void {
  const { setImmediate: turn } = timersPromises
  functions['setImmediate'] = () => currentProgram()?.step(() => undefined) ?? turn()
}

/** A deadline of real time would end what takes no time at all, whenever the machine is slow. */
function interceptTimeouts(functions: Functions): void {
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  functions['timeout'] = (durationMs) => {
    const program = currentProgram()
    if (program === undefined) return timeout(Number(durationMs))
    const deadline = new AbortController()
    const end = (): void => deadline.abort(new DOMException('timed out', 'TimeoutError'))
    program.kernel.addTimer(Number(durationMs), program, () => program.post(end))
    return deadline.signal
  }
}
