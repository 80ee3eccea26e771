/** e_machine of an ELF header, in Node's words. */
const MACHINES: ReadonlyMap<number, string> = new Map([
  [62, 'x64'],
  [183, 'arm64'],
])
const ELF = Buffer.from('\u007fELF', 'latin1')
const MACHINE_OFFSET = 18
const HEADER_BYTES = 20

/** What a program was built for, in Node's words; undefined when it is no ELF file, such as a script. docs/protocol.md UPD-22. */
export function architectureOf(program: Uint8Array): string | undefined {
  const header = Buffer.from(program.buffer, program.byteOffset, program.byteLength)
  if (header.length < HEADER_BYTES || !header.subarray(0, ELF.length).equals(ELF)) return undefined
  // Both architectures are little-endian.
  const machine = header.readUInt16LE(MACHINE_OFFSET)
  return MACHINES.get(machine) ?? `another architecture (ELF machine ${machine})`
}
