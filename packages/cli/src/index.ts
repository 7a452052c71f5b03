/** The `dsh-sandbox` command as a function. */

export { main } from './main.ts'
