/** All that programs started by tests see of our own environment: where commands are, and what is compiled already. */
export function passedOnEnvironment(): Record<'PATH', string> & { NODE_COMPILE_CACHE?: string } {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) }
}
