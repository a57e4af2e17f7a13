import AjvCompiler from "@fastify/ajv-compiler";
import SerializerSelector from "@fastify/fast-json-stringify-compiler";
import type { FastifyServerOptions } from "fastify";

type CompileCheck = ReturnType<AjvCompiler.BuildCompilerFromPool>;
type CompileWriter = SerializerSelector.SerializerCompiler;
type Check = { (value: unknown): unknown; errors?: unknown };

const buildValidator: AjvCompiler.BuildCompilerFromPool = AjvCompiler();
const buildSerializer = SerializerSelector();

/** Fastify's compilers, run with a route's first request: compiling all at start takes longer than anything else. */
export const compileOnUse: NonNullable<FastifyServerOptions["schemaController"]> = {
  compilersFactory: {
    buildValidator: (...[schemas, options]: Parameters<AjvCompiler.BuildCompilerFromPool>) =>
      compileCheckOnUse(buildValidator(schemas, options)),
    buildSerializer: (schemas, options) => compileWriterOnUse(buildSerializer(schemas, options)),
  },
};

function compileCheckOnUse(compile: CompileCheck): CompileCheck {
  const compileLater = (...route: Parameters<CompileCheck>): Check => {
    let compiled: Check | undefined;
    const check: Check = (value) => {
      compiled ??= compile(...route);
      const isValid = compiled(value);
      // Fastify reads the errors from the function that it called.
      check.errors = compiled.errors;
      return isValid;
    };
    return check;
  };
  return compileLater as CompileCheck;
}

function compileWriterOnUse(compile: CompileWriter): CompileWriter {
  return (route) => {
    let write: SerializerSelector.Serializer | undefined;
    return (value) => {
      write ??= compile(route);
      return write(value);
    };
  };
}
