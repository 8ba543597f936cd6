# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs send: text, bytes and jitted functions. Tests with JAX skip without it."""

import importlib.util
import pathlib

import meshloom
import pytest

needs_jax = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="this Python has no JAX"
)

# Rows of x are on "x"; the sum over them is one all_reduce of 16 bytes.
SUM = """
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


STEP = """
func.func @main(%w: tensor<8x8xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<64x8xf32>)
    -> (tensor<8x8xf32>, tensor<f32>) {
  %0 = stablehlo.tanh %x : tensor<64x8xf32> loc("jvp(stage0)")
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0]
      : (tensor<64x8xf32>, tensor<8x8xf32>) -> tensor<64x8xf32> loc("jvp(stage1)")
  %2 = stablehlo.tanh %1 : tensor<64x8xf32> loc("jvp(stage1)")
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<64x8xf32>, tensor<f32>) -> tensor<f32>
  %4 = stablehlo.dot_general %0, %2, contracting_dims = [0] x [0]
      : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<8x8xf32> loc("transpose(jvp(stage1))")
  %5 = stablehlo.subtract %w, %4 : tensor<8x8xf32>
  return %5, %3 : tensor<8x8xf32>, tensor<f32>
}
"""


def test_collectives_of_text():
    # A ring of 4 sends 2 * 3 / 4 of 16 bytes.
    assert meshloom.collectives(SUM) == [meshloom.Collective("all_reduce", ("x",), 1, 24)]


def test_bytes_are_the_same_as_text():
    assert meshloom.collectives(SUM.encode()) == meshloom.collectives(SUM)


def test_explanation_names_the_cause():
    text = meshloom.explain(SUM)
    assert "all_reduce sum over [x]: 16 bytes, 24 sent" in text
    assert "at program:" in text


def test_explanation_writes_a_page(tmp_path):
    page = tmp_path / "sum.html"
    assert "all_reduce sum over [x]" in meshloom.explain(SUM, page=page)
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert '"kind":"all_reduce"' in text


def test_page_with_a_different_ending_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="expected a file that ends in .html"):
        meshloom.explain(SUM, page=tmp_path / "sum.txt")


def test_explanation_ends_with_the_prediction():
    text = meshloom.explain(SUM, machine="gpu:h100")
    assert "@main on 4 devices of gpu:h100" in text
    assert "time of a step:" in text


def test_prediction_has_memory_and_time():
    prediction = meshloom.predict(SUM, machine="gpu:h100")
    # 2 of 8 rows, the partial sums and the result.
    assert prediction["memory"]["argument_bytes"] == 2 * 4 * 4
    assert prediction["memory"]["result_bytes"] == 4 * 4
    assert prediction["collectives"] == 1
    assert prediction["fits"]


# A product of many rows with a small matrix, which nobody laid out.
PRODUCT = """
module {
  func.func @main(%arg0: tensor<4096x512xf32> {jax.arg_info = "x"},
                  %arg1: tensor<512x512xf32> {jax.arg_info = "w"}) -> tensor<4096x512xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
        : (tensor<4096x512xf32>, tensor<512x512xf32>) -> tensor<4096x512xf32>
    return %0 : tensor<4096x512xf32>
  }
}
"""


def test_layouts_are_found():
    x, w = meshloom.auto_layout(PRODUCT, mesh={"data": 4})
    assert x == meshloom.ArgumentLayout("argument 'x'", (0,), ("data", None))
    assert w.spec == (None, None)
    assert meshloom.auto_layout(PRODUCT, mesh=4)[0].spec == ("x", None)


def test_written_layouts_are_a_start():
    mesh = 'sdy.mesh @mesh = <["data"=4]>'
    columns = 'sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>'
    written = PRODUCT.replace("module {", f"module {{\n  {mesh}", 1)
    written = written.replace('"x"', f'"x", {columns}', 1)
    assert meshloom.auto_layout(written)[0].spec == (None, "data")
    assert meshloom.auto_layout(written, reconsider=True)[0].spec == ("data", None)


def test_layouts_that_do_not_fit_are_an_error():
    with pytest.raises(ValueError, match="a device holds at most 9 bytes"):
        meshloom.auto_layout(PRODUCT, mesh=4, memory=9)


def test_change_of_one_annotation_is_suggested():
    advice = meshloom.suggest(SUM)
    assert advice["costs"]["bytes_sent"] == 24
    assert {entry["goal"] for entry in advice["suggestions"]} >= {"bytes"}
    assert advice["annotations"][0]["layout"]["partition_spec"] == "PartitionSpec('x', None)"
    assert advice["annotations"][0]["next_best"]["bytes_sent"] == 0


def test_suggestions_keep_to_the_memory():
    advice = meshloom.suggest(STEP, mesh={"x": 4}, memory=1600)
    assert advice["memory_choices"][0].startswith("accumulate gradients over")
    assert advice["costs"]["peak_bytes"] <= 1600


def test_gradients_are_accumulated_in_predictions():
    whole = meshloom.predict(STEP)
    parts = meshloom.predict(STEP, accumulate_gradients=4)
    assert parts["memory"]["peak_bytes"] < whole["memory"]["peak_bytes"]


def test_stages_of_a_pipeline_are_predicted():
    plan = meshloom.predict_pipeline(STEP, schedule="gpipe", microbatches=4)
    assert [stage["scopes"] for stage in plan["stages"]] == ["stage0", "stage1"]
    assert [stage["held"] for stage in plan["stages"]] == [4, 4]
    assert plan["time_ps"] > 4 * max(
        stage["forward_ps"] + stage["backward_ps"] for stage in plan["stages"]
    )
    assert all(stage["peak_bytes"] > 64 * 4 for stage in plan["stages"])
    with pytest.raises(ValueError, match="no op is in a stage of the pipeline"):
        meshloom.predict_pipeline(STEP, scope="layer")


def test_machine_that_cannot_have_the_devices_is_an_error():
    with pytest.raises(ValueError, match="has 4 devices, and the machine tpu:v5e:2x4 has 8"):
        meshloom.predict(SUM, machine="tpu:v5e:2x4")


def test_expected_collectives_pass():
    meshloom.assert_collectives(SUM, all_reduce=1, max_bytes=24)


def test_unexpected_collective_is_named_with_its_cause():
    with pytest.raises(meshloom.CollectivesError) as error:
        meshloom.assert_collectives(SUM, all_gather=1)
    message = str(error.value)
    assert "expected 0 all_reduce, got 1; expected 1 all_gather, got 0" in message
    assert "why:" in message


def test_bytes_are_limited():
    with pytest.raises(AssertionError, match="each device sends 24 bytes, more than 23"):
        meshloom.assert_collectives(SUM, all_reduce=1, max_bytes=23)


def test_refused_program_is_an_error_with_a_line():
    with pytest.raises(ValueError, match="program:2"):
        meshloom.collectives("module {\n  unknown.op\n}")


def test_unknown_machine_is_an_error():
    with pytest.raises(ValueError, match="no-such-machine"):
        meshloom.collectives(SUM, machine="no-such-machine")


def test_wrong_arguments_are_type_errors():
    with pytest.raises(TypeError, match="takes no arguments"):
        meshloom.collectives(SUM, 1)
    with pytest.raises(TypeError, match="got a int"):
        meshloom.collectives(3)


def test_missing_tool_is_named(monkeypatch):
    monkeypatch.setenv("MESHLOOM_OPT", "/no/mesh-opt")
    with pytest.raises(FileNotFoundError, match="/no/mesh-opt"):
        meshloom.tool_path()


def test_contract_is_written_and_compared(pytester, monkeypatch):
    monkeypatch.setenv("MESHLOOM_OPT", str(meshloom.tool_path()))
    # Pytest runs in a different folder, and the caller's path may be relative.
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(meshloom.__file__).resolve().parents[1]))
    pytester.makepyfile(f"SUM = {SUM!r}\ndef test(contract): contract('sum.json', SUM)")
    options = ["-p", "meshloom.pytest_plugin", "-p", "no:cacheprovider"]
    pytester.runpytest_subprocess(*options).assert_outcomes(failed=1)
    pytester.runpytest_subprocess(*options, "--update-contracts").assert_outcomes(passed=1)
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=1)
    contract = pytester.path / "sum.json"
    contract.write_text(contract.read_text().replace("24 bytes", "12 bytes"))
    result = pytester.runpytest_subprocess(*options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*- all_reduce over *x*: 1 in a step, 12 bytes"])


@needs_jax
def test_jitted_function_and_picture():
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec

    jitted = jax.jit(lambda x: jnp.sin(x).sum(0))
    x = jnp.ones((8, 4), device=NamedSharding(jax.make_mesh((1,), ("x",)), PartitionSpec("x")))
    meshloom.assert_collectives(jitted, x)
    assert "[0:8, 0:4] [8, 4] on device 0" in meshloom.visualize(x)


@needs_jax
def test_page_of_a_jitted_function_has_its_lines_and_scopes_of_python(tmp_path):
    import jax
    import jax.numpy as jnp

    @jax.named_scope("wave")
    def wave(x):
        return jnp.sin(x).sum(0)  # this line is in the page

    meshloom.explain(jax.jit(wave), jnp.ones((8, 4)), page=tmp_path / "sine.html")
    page = (tmp_path / "sine.html").read_text()
    assert "this line is in the page" in page
    assert '"scope":"wave"' in page


def test_picture_needs_a_sharding():
    with pytest.raises(TypeError, match="got a list"):
        meshloom.visualize([1, 2])
