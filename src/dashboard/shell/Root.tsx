import { Outlet } from "@tanstack/react-router";
import { SessionEnd } from "./SessionEnd.tsx";

export function Root() {
  return (
    <>
      <SessionEnd />
      <Outlet />
    </>
  );
}
